// The lock between processes: one at a time, every wait has an end, and a dead
// holder holds nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/futex.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "shim/lock.h"

namespace rollcall::shim {
namespace {

using base::Fd;
using base::kNsPerMs;
using base::monotonic_ns;
using test::eventually;
using test::ForkedChild;

constexpr int64_t kSoonNs = 30 * kNsPerMs;
int64_t late() {
  return monotonic_ns() + test::kPatienceS * base::kNsPerSecond;
}

struct Meeting {
  std::atomic<uint32_t> wake;
  std::atomic<int> inside;  // 1: a holder has the lock
  std::atomic<int> overlaps;
  int64_t counter;  // guarded by the lock and by nothing else
};

// Every test twice: with a wake word, and without one, by polling.
class ShimLock : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    fd_.reset(open((folder_.path() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(fd_.valid());
  }
  std::atomic<uint32_t>* wake() { return GetParam() ? &meeting_->wake : nullptr; }

  // A child that takes the lock and keeps it until it is told otherwise.
  ForkedChild holder() {
    ForkedChild child([this] {
      FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
      if (lock.acquire(late()) != FileLock::Result::kAcquired) return 1;
      meeting_->inside.store(1);
      if (!eventually([this] { return meeting_->inside.load() == 2; })) return 2;
      lock.release();
      return 0;
    });
    EXPECT_TRUE(eventually([this] { return meeting_->inside.load() == 1; }));
    return child;
  }
  FileLock::Result try_for(int64_t ns) {
    FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
    return lock.acquire(monotonic_ns() + ns);
  }

  test::TemporaryFolder folder_;
  Fd fd_;
  test::Shared<Meeting> meeting_;
};
INSTANTIATE_TEST_SUITE_P(Waiting, ShimLock, testing::Bool(),
                         [](const auto& test) { return test.param ? "Woken" : "Polling"; });

TEST_P(ShimLock, OneAtATime) {
  constexpr int kProcesses = 6;
  constexpr int kRounds = 200;
  std::vector<ForkedChild> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([this] {
      for (int round = 0; round < kRounds; ++round) {
        FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
        if (lock.acquire(late()) != FileLock::Result::kAcquired) return 1;
        if (meeting_->inside.fetch_add(1) != 0) meeting_->overlaps.fetch_add(1);
        const int64_t seen = meeting_->counter;
        sched_yield();
        meeting_->counter = seen + 1;
        meeting_->inside.fetch_sub(1);
      }
      return 0;
    });
  }
  for (ForkedChild& child : children) EXPECT_EQ(child.exit_code(), 0);
  EXPECT_EQ(meeting_->overlaps.load(), 0);
  EXPECT_EQ(meeting_->counter, kProcesses * kRounds);
}

TEST_P(ShimLock, ATakenLockTimesOut) {
  ForkedChild child = holder();
  const int64_t before = monotonic_ns();
  EXPECT_EQ(try_for(kSoonNs), FileLock::Result::kTimeout);
  EXPECT_GE(monotonic_ns() - before, kSoonNs);  // and not earlier
}

TEST_P(ShimLock, ADeadlineThatHasPassedStillTakesAFreeLock) {
  EXPECT_EQ(try_for(-kSoonNs), FileLock::Result::kAcquired);
  ForkedChild child = holder();
  EXPECT_EQ(try_for(-kSoonNs), FileLock::Result::kTimeout);
}

TEST_P(ShimLock, AReleasedLockIsTaken) {
  ForkedChild child = holder();
  meeting_->inside.store(2);
  EXPECT_EQ(try_for(late() - monotonic_ns()), FileLock::Result::kAcquired);
  EXPECT_EQ(child.exit_code(), 0);
}

TEST_P(ShimLock, ADeadHolderHoldsNothing) {
  ForkedChild child = holder();
  // A waiter that is there before the holder dies, and must find out by itself.
  ForkedChild waiter([this] {
    FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
    const int64_t much_later = monotonic_ns() + 3600 * base::kNsPerSecond;
    return lock.acquire(much_later) == FileLock::Result::kAcquired ? 0 : 1;
  });
  EXPECT_TRUE(eventually([&] { return test::is_asleep(waiter.pid()); }));
  child.kill_and_reap();
  EXPECT_EQ(waiter.exit_code(), 0);
}

TEST_P(ShimLock, AStoppedHolderCostsATimeoutAndNoMore) {
  ForkedChild child = holder();
  child.stop();
  EXPECT_EQ(try_for(kSoonNs), FileLock::Result::kTimeout);
  child.signal(SIGCONT);
  meeting_->inside.store(2);
  EXPECT_EQ(child.exit_code(), 0);
  EXPECT_EQ(try_for(0), FileLock::Result::kAcquired);
}

TEST_P(ShimLock, ItsEndIsARelease) {
  {
    FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
    ASSERT_EQ(lock.acquire(late()), FileLock::Result::kAcquired);
  }
  ForkedChild child([this] { return try_for(0) == FileLock::Result::kAcquired ? 0 : 1; });
  EXPECT_EQ(child.exit_code(), 0);
}

TEST_P(ShimLock, AForkedChildDoesNotInheritIt) {
  FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
  ASSERT_EQ(lock.acquire(late()), FileLock::Result::kAcquired);
  ForkedChild child([this] { return try_for(0) == FileLock::Result::kTimeout ? 0 : 1; });
  EXPECT_EQ(child.exit_code(), 0);
}

TEST_P(ShimLock, TheTwoBytesAreTwoLocks) {
  ForkedChild child = holder();
  FileLock setup(fd_.get(), FileLock::kSetupByte, wake());
  EXPECT_EQ(setup.acquire(0), FileLock::Result::kAcquired);
}

TEST_P(ShimLock, AFileThatCannotBeLockedIsAFailureAndNotAWait) {
  const Fd read_only(open("/dev/null", O_RDONLY | O_CLOEXEC));
  FileLock lock(read_only.get(), FileLock::kDiscoveryByte, wake());
  EXPECT_EQ(lock.acquire(late()), FileLock::Result::kFailed);
  FileLock none(-1, FileLock::kDiscoveryByte, wake());
  EXPECT_EQ(none.acquire(late()), FileLock::Result::kFailed);
}

TEST_P(ShimLock, OnlyAReleaseOfAHeldLockWakes) {
  {
    FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
    lock.release();
    EXPECT_EQ(meeting_->wake.load(), 0U);
    ASSERT_EQ(lock.acquire(late()), FileLock::Result::kAcquired);
    lock.release();
    lock.release();
  }
  EXPECT_EQ(meeting_->wake.load(), GetParam() ? 1U : 0U);
}

TEST_P(ShimLock, AReleaseWakesAWaiterInAnotherProcess) {
  if (!GetParam()) return;  // nobody to wake: waiters poll
  FileLock lock(fd_.get(), FileLock::kDiscoveryByte, wake());
  ASSERT_EQ(lock.acquire(late()), FileLock::Result::kAcquired);
  // Sleeps far longer than the test is patient, on the word alone.
  ForkedChild sleeper([this] {
    base::futex_wait(&meeting_->wake, 0, 3600 * base::kNsPerSecond);
    return meeting_->wake.load() == 1 ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return test::is_asleep(sleeper.pid()); }));
  lock.release();
  EXPECT_EQ(sleeper.exit_code(), 0);
}

}  // namespace
}  // namespace rollcall::shim
