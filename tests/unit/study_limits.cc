// A machine that lets us start too little says so before the first worker, with
// the limit, what was found and what to set.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "forked_child.h"
#include "study/limits.h"

namespace rollcall::study {
namespace {

constexpr int kWorkers = 250;
constexpr int kCaches = 50;

// The refusal for these limits; empty if there is none.
std::string refusal(const ProcessLimits& limits) {
  const auto checked = check_limits(limits, {kWorkers, kCaches});
  if (checked) return "";
  EXPECT_EQ(checked.error().kind, base::ErrorKind::kFailure);
  return checked.error().line();
}

void expect_says(const std::string& line, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(line.find(word), std::string::npos) << "no '" << word << "': " << line;
}

TEST(Limits, AMachineWithoutLimitsTakesEverything) {
  EXPECT_EQ(refusal({}), "");
}

TEST(Limits, EveryWorkerAndEveryCacheNeedsADescriptor) {
  // simgpud needs the most: three for each worker.
  EXPECT_EQ(needed_descriptors({250, 1}) - needed_descriptors({249, 1}), 3U);
  EXPECT_GE(needed_descriptors({250, 250}), 500U);
  EXPECT_GT(needed_descriptors({1, 1}), 2U);
}

TEST(Limits, ANamespaceIsAProcessAndItsWayIn) {
  EXPECT_EQ(needed_descriptors({2000, 2000, 2000}) - needed_descriptors({2000, 2000, 1999}), 6U);
  ProcessLimits limits;
  limits.pid_max = kWorkers + kCaches;
  EXPECT_TRUE(check_limits(limits, {kWorkers, kCaches}));
  EXPECT_FALSE(check_limits(limits, {kWorkers, kCaches, kCaches}));
}

TEST(Limits, TooFewOpenFilesNamesTheLimitAndUlimit) {
  const uint64_t needed = needed_descriptors({kWorkers, kCaches});
  ProcessLimits limits;
  limits.open_files_soft = limits.open_files_hard = needed - 1;
  expect_says(refusal(limits), {"open files", "RLIMIT_NOFILE", "250 workers", std::to_string(needed - 1),
                                "ulimit -n " + std::to_string(needed)});
  limits.open_files_hard = needed;
  EXPECT_EQ(refusal(limits), "");  // the soft one can be raised
}

TEST(Limits, TooFewUserProcessesCountsThoseThatAreThere) {
  ProcessLimits limits;
  limits.user_processes_used = 100;
  limits.user_processes = 100 + kWorkers;
  expect_says(refusal(limits),
              {"user processes", "RLIMIT_NPROC", "the 100 of this user", "350", "ulimit -u 358"});
  limits.user_processes = 358;
  EXPECT_EQ(refusal(limits), "");
  limits.user_processes_used = 101;
  EXPECT_NE(refusal(limits), "");
}

TEST(Limits, TooFewPidsNamesTheSysctl) {
  ProcessLimits limits;
  limits.pid_max = kWorkers;
  expect_says(refusal(limits), {"/proc/sys/kernel/pid_max", "250", "sysctl kernel.pid_max="});
  limits.pid_max = 32768;
  EXPECT_EQ(refusal(limits), "");
}

TEST(Limits, ATightControlGroupNamesItsSetting) {
  ProcessLimits limits;
  limits.cgroup_tasks_used = 10;
  limits.cgroup_tasks = kWorkers;
  expect_says(refusal(limits), {"pids.max", "the 10 that are there", "250", "set it to 268", "TasksMax"});
  limits.cgroup_tasks = 267;  // enough, were there not those ten
  EXPECT_NE(refusal(limits), "");
  limits.cgroup_tasks = 268;
  EXPECT_EQ(refusal(limits), "");
}

TEST(Limits, AreReadFromThisMachine) {
  const ProcessLimits limits = read_process_limits();
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(limits.open_files_soft.value_or(RLIM_INFINITY), files.rlim_cur);
  EXPECT_EQ(limits.open_files_hard.value_or(RLIM_INFINITY), files.rlim_max);
  ASSERT_TRUE(limits.pid_max);
  EXPECT_GT(*limits.pid_max, 300U);
}

TEST(Limits, AUserBoundByThemSeesHisOwnProcesses) {
  test::ForkedChild child([] {
    if (getuid() == 0 && setuid(65534) != 0) return 2;
    const rlimit processes{5000, 5000};
    if (setrlimit(RLIMIT_NPROC, &processes) != 0) return 3;
    const ProcessLimits limits = read_process_limits();
    return limits.user_processes == 5000 && limits.user_processes_used >= 1 ? 0 : 1;
  });
  EXPECT_EQ(child.exit_code(), 0);
}

TEST(Limits, OpenFilesAreRaisedAsFarAsNeeded) {
  test::ForkedChild child([] {
    const rlimit low{64, 512};
    if (setrlimit(RLIMIT_NOFILE, &low) != 0) return 2;
    if (!raise_open_files(300)) return 3;
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_cur != 300 || now.rlim_max != 512) return 4;
    if (!raise_open_files(100)) return 5;  // there is more already
    getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_cur != 300) return 6;
    const auto refused = raise_open_files(513);
    return !refused && refused.error().line().find("ulimit -n 513") != std::string::npos ? 0 : 7;
  });
  EXPECT_EQ(child.exit_code(), 0);
}

}  // namespace
}  // namespace rollcall::study
