// A maker or a member that dies in the middle costs nobody else anything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "shim/lock.h"
#include "shim/region.h"
#include "shim_region_image.h"

namespace rollcall::shim {
namespace {

using test::ForkedChild;
using test::RegionImage;
using Join = Region::Join;

constexpr int64_t kSoonNs = 30 * base::kNsPerMs;
int64_t late() {
  return base::monotonic_ns() + test::kPatienceS * base::kNsPerSecond;
}

class RegionCrash : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path() / "cache"; }
  void expect_a_good_join() {
    Region region;
    ASSERT_EQ(region.join(path().c_str(), late()), Join::kOk);
    EXPECT_EQ(region.slot()->pid.load(), getpid());
    const std::string bytes = folder_.read("cache");
    ASSERT_EQ(bytes.size(), kRegionSizeBytes);
    RegionImage image;
    std::memcpy(static_cast<void*>(&image.header()), bytes.data(), bytes.size());
    EXPECT_EQ(check_region(image.header(), bytes.size()), RegionCheck::kValid);
    EXPECT_EQ(image.header().claimed.load(), 1U);
  }
  // A child that has opened the file and holds the set-up lock: a maker in the middle.
  ForkedChild maker() {
    ForkedChild child([this] {
      const base::Fd fd(open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      FileLock lock(fd.get(), FileLock::kSetupByte, nullptr);
      if (lock.acquire(late()) != FileLock::Result::kAcquired) return 1;
      in_the_middle_->store(1);
      return pause();
    });
    EXPECT_TRUE(test::eventually([this] { return in_the_middle_->load() == 1; }));
    return child;
  }

  test::TemporaryFolder folder_;
  test::Shared<std::atomic<int>> in_the_middle_;
};

TEST_F(RegionCrash, BetweenOpenAndSizeTheFileIsSetUpByTheNext) {
  folder_.write("cache", "");
  expect_a_good_join();
}

TEST_F(RegionCrash, BetweenSizeAndHeaderTheFileIsSetUpByTheNext) {
  folder_.write("cache", std::string(kRegionSizeBytes, '\0'));
  expect_a_good_join();
}

TEST_F(RegionCrash, BetweenHeaderAndMagicTheFileIsSetUpByTheNext) {
  RegionImage image;
  image.header().magic.store(0);
  folder_.write("cache", image.bytes());
  expect_a_good_join();
}

TEST_F(RegionCrash, AMakerThatDiedHoldsNobodyUp) {
  ForkedChild child = maker();
  child.kill_and_reap();
  expect_a_good_join();
}

TEST_F(RegionCrash, AMakerThatDiesWhileOthersWaitLetsThemGoOn) {
  ForkedChild child = maker();
  ForkedChild waiter([this] {
    Region region;
    return region.join(path().c_str(), late()) == Join::kOk ? 0 : 1;
  });
  EXPECT_TRUE(test::eventually([&] { return test::is_asleep(waiter.pid()); }));
  child.kill_and_reap();
  EXPECT_EQ(waiter.exit_code(), 0);
}

TEST_F(RegionCrash, AMakerThatHangsCostsATimeoutAndLeavesTheFileBlank) {
  ForkedChild child = maker();
  child.stop();
  Region region;
  EXPECT_EQ(region.join(path().c_str(), base::monotonic_ns() + kSoonNs), Join::kSetupTimeout);
  EXPECT_EQ(region.slot(), nullptr);
  EXPECT_EQ(folder_.read("cache"), "");
}

TEST_F(RegionCrash, ARegionThatIsSetUpNeedsNoSetUpLock) {
  expect_a_good_join();
  ForkedChild child = maker();
  child.stop();
  Region region;
  EXPECT_EQ(region.join(path().c_str(), base::monotonic_ns()), Join::kOk);
}

TEST_F(RegionCrash, AMemberThatDiedBetweenClaimAndSlotCostsOneSlot) {
  RegionImage image;
  image.header().claimed.store(1);  // counted, and then no slot taken
  folder_.write("cache", image.bytes());
  Region region;
  ASSERT_EQ(region.join(path().c_str(), late()), Join::kOk);
  RegionImage after;
  const std::string bytes = folder_.read("cache");
  std::memcpy(static_cast<void*>(&after.header()), bytes.data(), bytes.size());
  EXPECT_EQ(after.header().claimed.load(), 2U);
  EXPECT_EQ(after.slot(0).pid.load(), 0);
  EXPECT_EQ(after.slot(1).pid.load(), getpid());
}

TEST_F(RegionCrash, MembersThatAreKilledAnywhereNeverSpoilTheRegion) {
  for (int round = 0; round < 20; ++round) {
    const test::Shared<std::atomic<int>> start;
    std::vector<ForkedChild> children;
    for (int i = 0; i < 4; ++i) {
      children.emplace_back([&] {
        while (start->load() == 0) sched_yield();
        Region region;
        return region.join(path().c_str(), late()) == Join::kOk ? 0 : 1;
      });
    }
    start->store(1);
    for (int i = 0; i < round * 200; ++i) sched_yield();
    for (ForkedChild& child : children) child.kill_and_reap();
    Region region;
    ASSERT_EQ(region.join(path().c_str(), late()), Join::kOk);
    EXPECT_EQ(region.slot()->pid.load(), getpid());
    std::filesystem::remove(path());
  }
}

}  // namespace
}  // namespace rollcall::shim
