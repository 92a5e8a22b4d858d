// What the kernel says about a process, and how it is read from texts that may
// hold anything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <string.h>

#include <string>

#include "base/fd.h"
#include "base/process.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"

namespace rollcall::base {
namespace {

using test::ForkedChild;

uint64_t start_time(const std::string& text) {
  return parse_start_time(text.data(), text.size());
}

// Fields 4 to 21 of a stat file, then the start time and two more.
std::string stat_text(const std::string& name, const std::string& time) {
  return "42 (" + name + ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " + time + " 1000 77\n";
}

TEST(StartTime, IsTheTwentySecondField) {
  EXPECT_EQ(start_time(stat_text("worker", "123456")), 123456U);
}

TEST(StartTime, IsFoundBehindAnyCommandName) {
  for (const char* name :
       {"", " ", "a b c", ") S 1 2", "((", "))", "\n", ") R 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9"}) {
    EXPECT_EQ(start_time(stat_text(name, "77")), 77U) << name;
  }
}

TEST(StartTime, IsZeroWhereTheTextIsMalformed) {
  for (const char* text : {"", "42", "42 (name", "42 (name)", "42 (name) S 1 2 3"})
    EXPECT_EQ(start_time(text), 0U);
  EXPECT_EQ(start_time(stat_text("worker", "x")), 0U);
  EXPECT_EQ(start_time(stat_text("worker", "-1")), 0U);
  EXPECT_EQ(start_time(stat_text("worker", "18446744073709551616")), 0U);  // one more than fits
  EXPECT_EQ(start_time(stat_text("worker", "18446744073709551615")), UINT64_MAX);
}

TEST(StartTime, OfALivingProcessDoesNotChangeAndOfAGoneOneIsZero) {
  const uint64_t own = process_start_time(getpid());
  EXPECT_GT(own, 0U);
  EXPECT_EQ(process_start_time(getpid()), own);
  ForkedChild child([] { return pause(); });
  const pid_t pid = child.pid();
  EXPECT_GE(process_start_time(pid), own);
  child.kill_and_reap();
  EXPECT_EQ(process_start_time(pid), 0U);
}

std::vector<pid_t> nspid(const std::string& text, size_t capacity = kMaxPidNamespaces) {
  std::vector<pid_t> pids(capacity);
  pids.resize(parse_nspid(text.data(), text.size(), pids.data(), capacity));
  return pids;
}

TEST(Nspid, ListsThePidsFromTheReadersNamespaceDown) {
  EXPECT_EQ(nspid("Name:\tx\nNSpid:\t4242\t17\t1\nNSpgid:\t1\n"), (std::vector<pid_t>{4242, 17, 1}));
  EXPECT_EQ(nspid("NSpid:\t7\n"), (std::vector<pid_t>{7}));
  EXPECT_EQ(nspid("NSpid: 7"), (std::vector<pid_t>{7}));  // the last line, cut off
}

TEST(Nspid, IsEmptyWhereThereIsNoSuchLineOrItIsMalformed) {
  EXPECT_TRUE(nspid("").empty());
  EXPECT_TRUE(nspid("NSpid:").empty());
  EXPECT_TRUE(nspid("NSpid:\t\n").empty());
  EXPECT_TRUE(nspid("XNSpid:\t7\n").empty());
  EXPECT_TRUE(nspid("NSpid:\t7\tx\n").empty());
  EXPECT_TRUE(nspid("NSpid:\t-7\n").empty());
  EXPECT_TRUE(nspid("NSpid:\t2147483648\n").empty());
}

TEST(Nspid, NeverGivesMoreThanThereIsRoomFor) {
  EXPECT_EQ(nspid("NSpid:\t1\t2\t3\n", 2), (std::vector<pid_t>{1, 2}));
  EXPECT_TRUE(nspid("NSpid:\t1\n", 0).empty());
}

TEST(Namespace, OwnIsThatOfOurPid) {
  EXPECT_GT(own_pid_namespace_inode(), 0U);
  EXPECT_EQ(pid_namespace_inode(getpid()), own_pid_namespace_inode());
}

TEST(Namespace, AChildInANewOneIsSomewhereElse) {
  // 77: this user may not make a namespace.
  ForkedChild outer([&] {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return 77;
    ForkedChild inner([] { return pause(); });
    const uint64_t seen = pid_namespace_inode(inner.pid());
    return seen != 0 && seen != own_pid_namespace_inode() ? 0 : 1;
  });
  const int code = outer.exit_code();
  if (code == 77) GTEST_SKIP() << "making a PID namespace is not permitted here";
  EXPECT_EQ(code, 0);
}

TEST(Namespace, OfNobodyIsZero) {
  ForkedChild child([] { return 0; });
  const pid_t pid = child.pid();
  child.kill_and_reap();
  EXPECT_EQ(pid_namespace_inode(pid), 0U);
}

TEST(Pidfd, SignalsItsProcessAndTellsItsEnd) {
  ForkedChild child([] { return pause(); });
  const Fd pidfd(open_pidfd(child.pid()));
  ASSERT_TRUE(pidfd.valid()) << strerror(errno);
  EXPECT_EQ(signal_pidfd(pidfd.get(), 0), 0);
  pollfd waiting{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  EXPECT_EQ(signal_pidfd(pidfd.get(), SIGKILL), 0);
  EXPECT_TRUE(test::ends(pidfd.get()));
  child.kill_and_reap();
  EXPECT_EQ(signal_pidfd(pidfd.get(), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Pidfd, OfNobodyIsAnError) {
  ForkedChild child([] { return 0; });
  const pid_t pid = child.pid();
  child.kill_and_reap();
  EXPECT_EQ(open_pidfd(pid), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ReadSmallFile, StopsAtTheCapacityAndAtTheEnd) {
  const test::TemporaryFolder folder;
  folder.write("file", "0123456789");
  const std::string path = folder.path() / "file";
  char buffer[32] = {};
  EXPECT_EQ(read_small_file(path.c_str(), buffer, sizeof buffer), 10);
  EXPECT_EQ(std::string(buffer, 10), "0123456789");
  char small[4] = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(read_small_file(path.c_str(), small, 3), 3);
  EXPECT_EQ(std::string(small, 4), "012x");
}

TEST(ReadSmallFile, SaysWhyItCannot) {
  char buffer[8];
  EXPECT_EQ(read_small_file("/nowhere/at/all", buffer, sizeof buffer), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace rollcall::base
