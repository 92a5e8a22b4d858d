// The C interface on this very process: options, forks, threads, and that nothing of the
// caller's is changed.
#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/process.h"
#include "hostpid/hostpid.h"

namespace {

bool in_initial_namespace() {
  return rollcall::base::own_pid_namespace_inode() == rollcall::base::kInitialPidNamespaceInode;
}

TEST(HostpidApi, KnowsThisProcessInTheInitialNamespace) {
  hostpid_result result;
  const hostpid_status status = hostpid_discover(nullptr, &result);
  EXPECT_EQ(status, result.status);
  if (in_initial_namespace()) {
    EXPECT_EQ(result.host_pid, getpid());
    EXPECT_EQ(result.host_tier, HOSTPID_TIER_INITIAL_NAMESPACE);
    EXPECT_EQ(status, HOSTPID_PARTIAL);
  } else {
    EXPECT_EQ(result.host_pid, 0);
    EXPECT_STREQ(result.host_reason, "no_broker");
  }
  EXPECT_EQ(result.nvml_pid, 0);
  EXPECT_STREQ(result.nvml_reason, "no_context");
  EXPECT_GT(result.elapsed_ns, 0);
}

TEST(HostpidApi, RefusesOptionsThatAreNotValid) {
  const auto refused = [](auto change) {
    hostpid_options options;
    hostpid_options_init(&options);
    change(options);
    hostpid_result result;
    memset(&result, 0x5a, sizeof result);
    EXPECT_EQ(hostpid_discover(&options, &result), HOSTPID_INVALID);
    EXPECT_EQ(result.host_pid, 0);
    EXPECT_EQ(result.nvml_pid, 0);
    EXPECT_EQ(result.host_status, HOSTPID_INVALID);
    EXPECT_GT(strlen(hostpid_reason_text(result.host_reason)), 10U);
  };
  refused([](auto& o) { o.size_bytes = 8; });
  refused([](auto& o) { o.tiers_allowed = 0; });
  refused([](auto& o) { o.tiers_allowed = 8; });
  refused([](auto& o) { o.deadline_ms = 0; });
  refused([](auto& o) { o.deadline_ms = 60'001; });
  refused([](auto& o) { o.nvml_view = 3; });
  refused([](auto& o) { o.reserved[6] = 1; });
}

TEST(HostpidApi, LeavesErrnoAlone) {
  hostpid_options options;
  hostpid_options_init(&options);
  options.broker_path = "/nonexistent/broker.sock";
  options.deadline_ms = 1;
  hostpid_result result;
  errno = 77;
  hostpid_discover(&options, &result);
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(result.nvml_status, HOSTPID_UNAVAILABLE);
}

// In the child, by fork and by a clone that the C library knows nothing of.
int discovers_itself() {
  hostpid_result result;
  hostpid_discover(nullptr, &result);
  const int own = static_cast<int>(syscall(SYS_getpid));
  return in_initial_namespace() ? (result.host_pid == own ? 0 : 1) : (result.host_pid == 0 ? 0 : 1);
}

TEST(HostpidApi, AChildIsToldAboutItself) {
  hostpid_result result;
  hostpid_discover(nullptr, &result);
  const pid_t forked = fork();
  if (forked == 0) _exit(discovers_itself());
  int status = 1;
  ASSERT_EQ(waitpid(forked, &status, 0), forked);
  EXPECT_EQ(status, 0);
  const auto cloned = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (cloned == 0) syscall(SYS_exit_group, discovers_itself());
  ASSERT_EQ(waitpid(cloned, &status, 0), cloned);
  EXPECT_EQ(status, 0);
}

// A child that begins a PID namespace is number 1 there: no host PID, whatever its parent was.
TEST(HostpidApi, AChildInItsOwnNamespaceClaimsNothing) {
  const auto child =
      static_cast<pid_t>(syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, nullptr, nullptr, nullptr, 0));
  if (child < 0) GTEST_SKIP() << "cannot make a PID namespace here";
  if (child == 0) {
    hostpid_result result;
    hostpid_discover(nullptr, &result);
    syscall(SYS_exit_group, result.host_pid == 0 && result.nvml_pid == 0 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(HostpidApi, ManyThreadsAtOnceAreToldTheSame) {
  std::vector<hostpid_result> results(16);
  std::vector<std::thread> threads;
  for (hostpid_result& result : results) {
    threads.emplace_back([&result] {
      for (int i = 0; i < 50; ++i) hostpid_discover(nullptr, &result);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const hostpid_result& result : results) EXPECT_EQ(result.host_pid, results[0].host_pid);
}

TEST(HostpidApi, HasAWordForEverything) {
  for (int status = HOSTPID_OK; status <= HOSTPID_PARTIAL; ++status)
    EXPECT_STRNE(hostpid_status_text(status), "unknown");
  EXPECT_STREQ(hostpid_status_text(99), "unknown");
  EXPECT_STREQ(hostpid_tier_text(HOSTPID_TIER_CHALLENGE), "challenge");
  EXPECT_STREQ(hostpid_tier_text(HOSTPID_TIER_NONE), "");
  EXPECT_STREQ(hostpid_tier_text(3), "unknown");
  EXPECT_STREQ(hostpid_reason_text(""), "");
  EXPECT_STREQ(hostpid_reason_text(nullptr), "");
  EXPECT_EQ(hostpid_api_version(), HOSTPID_API_MAJOR * 1000 + HOSTPID_API_MINOR);
}

}  // namespace
