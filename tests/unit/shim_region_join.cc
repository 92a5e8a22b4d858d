// Joining a region: making it, taking a slot of one's own, and leaving alone what
// is not ours.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/process.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "shim/region.h"
#include "shim_region_image.h"

namespace rollcall::shim {
namespace {

using test::ForkedChild;
using test::RegionImage;
using test::TemporaryFolder;
using Join = Region::Join;

class RegionJoin : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path() / "cache"; }
  static int64_t late() { return base::monotonic_ns() + test::kPatienceS * base::kNsPerSecond; }
  Join join(Region* region) const { return region->join(path().c_str(), late()); }
  // The outcome in a process of its own, which is gone afterwards.
  [[nodiscard]] Join join_and_leave() const {
    ForkedChild child([this] {
      Region region;
      return static_cast<int>(join(&region));
    });
    return static_cast<Join>(child.exit_code());
  }
  // A copy of what the file holds.
  void load(RegionImage* image) const {
    const std::string bytes = folder_.read("cache");
    ASSERT_EQ(bytes.size(), kRegionSizeBytes);
    std::memcpy(static_cast<void*>(&image->header()), bytes.data(), bytes.size());
  }

  TemporaryFolder folder_;
};

TEST_F(RegionJoin, MakesTheFileWithItsHeader) {
  Region region;
  ASSERT_EQ(join(&region), Join::kOk);
  RegionImage image;
  load(&image);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kValid);
  EXPECT_EQ(image.header().minor, kRegionMinor);
  EXPECT_EQ(image.header().claimed.load(), 1U);
  EXPECT_EQ(image.header().lock_wake.load(), 0U);
}

TEST_F(RegionJoin, ASlotSaysWhoseItIsAndThatNothingIsKnownYet) {
  Region region;
  ASSERT_EQ(join(&region), Join::kOk);
  const RegionSlot& slot = *region.slot();
  EXPECT_EQ(slot.pid.load(), getpid());
  EXPECT_EQ(slot.start_time, base::process_start_time(getpid()));
  EXPECT_EQ(slot.pid_namespace, base::own_pid_namespace_inode());
  EXPECT_EQ(slot.status.load(), static_cast<uint32_t>(SlotStatus::kJoined));
  EXPECT_EQ(slot.assigned_pid, 0);
  for (const int64_t ns : {slot.lock_wait_ns, slot.discovery_ns, slot.added_ns, slot.context_added_ns}) {
    EXPECT_EQ(ns, kRegionUnset);
  }
}

TEST_F(RegionJoin, WhatIsWrittenIntoASlotStandsInTheFileAfterItsOwnerDied) {
  ForkedChild child([this] {
    Region region;
    if (join(&region) != Join::kOk) return 1;
    region.slot()->assigned_pid = 4242;
    region.slot()->status.store(static_cast<uint32_t>(SlotStatus::kAssigned));
    kill(getpid(), SIGKILL);
    return 2;
  });
  const pid_t pid = child.pid();
  EXPECT_EQ(child.exit_code(), -1);
  Region later;
  ASSERT_EQ(join(&later), Join::kOk);
  RegionImage image;
  load(&image);
  EXPECT_EQ(image.slot(0).pid.load(), pid);
  EXPECT_EQ(image.slot(0).assigned_pid, 4242);
  EXPECT_EQ(image.slot(0).status.load(), static_cast<uint32_t>(SlotStatus::kAssigned));
  EXPECT_EQ(image.slot(1).pid.load(), getpid());
}

TEST_F(RegionJoin, ManyAtOnceEachGetASlotOfTheirOwn) {
  constexpr int kProcesses = 40;
  const test::Shared<std::atomic<int>> start;
  std::vector<ForkedChild> children;
  std::set<pid_t> pids;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      while (start->load() == 0) sched_yield();
      Region region;
      if (join(&region) != Join::kOk) return 1;
      if (region.slot()->pid.load() != getpid()) return 2;
      region.slot()->assigned_pid = getpid();
      return 0;
    });
    pids.insert(children.back().pid());
  }
  start->store(1);
  for (ForkedChild& child : children) EXPECT_EQ(child.exit_code(), 0);
  RegionImage image;
  load(&image);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kValid);
  EXPECT_EQ(image.header().claimed.load(), static_cast<uint32_t>(kProcesses));
  std::set<pid_t> owners;
  for (size_t i = 0; i < kProcesses; ++i) {
    EXPECT_EQ(image.slot(i).assigned_pid, image.slot(i).pid.load());
    EXPECT_EQ(image.slot(i).status.load(), static_cast<uint32_t>(SlotStatus::kJoined));
    owners.insert(image.slot(i).pid.load());
  }
  EXPECT_EQ(owners, pids);
  EXPECT_EQ(image.slot(kProcesses).pid.load(), 0);
}

TEST_F(RegionJoin, LeavesFilesOfOthersAsTheyAre) {
  RegionImage other_version;
  other_version.header().major = kRegionMajor + 1;
  RegionImage damaged;
  damaged.header().slots = 3;
  const RegionImage good;
  const std::map<std::string, Join> contents = {
      {"{\"json\": true}\n", Join::kForeign},
      {std::string(5000, 'x'), Join::kForeign},
      {std::string(kRegionSizeBytes, 'x'), Join::kForeign},
      {std::string(100, '\0'), Join::kForeign},
      {other_version.bytes(), Join::kOtherVersion},
      {damaged.bytes(), Join::kDamaged},
      {good.bytes(sizeof(RegionHeader)), Join::kDamaged},
      {good.bytes(100), Join::kDamaged},
  };
  for (const auto& [content, expected] : contents) {
    folder_.write("cache", content);
    Region region;
    EXPECT_EQ(join(&region), expected) << to_text(expected) << ", " << content.size() << " bytes";
    EXPECT_EQ(region.slot(), nullptr);
    EXPECT_EQ(folder_.read("cache"), content);
  }
}

TEST_F(RegionJoin, OnlyARegularFileCanBeACache) {
  Region region;
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(join(&region), Join::kForeign);
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(join(&region), Join::kCannotOpen);
  std::filesystem::remove(path());
  folder_.write("real", "");
  std::filesystem::create_symlink("real", path());
  EXPECT_EQ(join(&region), Join::kCannotOpen);
  EXPECT_EQ(folder_.read("real"), "");
  EXPECT_EQ(region.join((folder_.path() / "absent/cache").c_str(), late()), Join::kCannotOpen);
}

class FullRegion : public RegionJoin {
 protected:
  // A region in which every slot has had an owner.
  void fill(pid_t owner, uint64_t pid_namespace) {
    for (uint32_t i = 0; i < kRegionSlots; ++i) {
      RegionSlot& slot = image_.claim(owner, 12345, SlotStatus::kAssigned);
      slot.pid_namespace = pid_namespace;
      slot.assigned_pid = 99;
    }
  }
  void write() { folder_.write("cache", image_.bytes()); }
  // The PID of nobody.
  static pid_t dead() {
    ForkedChild child([] { return 0; });
    const pid_t pid = child.pid();
    child.kill_and_reap();
    return pid;
  }

  RegionImage image_;
};

TEST_F(FullRegion, OfLivingOwnersTakesNobodyIn) {
  fill(getppid(), base::own_pid_namespace_inode());
  write();
  EXPECT_EQ(join_and_leave(), Join::kFull);
  RegionImage after;
  load(&after);
  for (uint32_t i = 0; i < kRegionSlots; ++i) ASSERT_EQ(after.slot(i).pid.load(), getppid());
}

TEST_F(FullRegion, OfADeadOwnerGivesItsSlotAwayWithNothingOfHisLeftInIt) {
  fill(getppid(), base::own_pid_namespace_inode());
  image_.slot(1000).pid.store(dead());
  image_.slot(1000).reason = 5;
  image_.slot(1000).added_ns = 5;
  write();
  Region region;
  ASSERT_EQ(join(&region), Join::kOk);
  RegionImage after;
  load(&after);
  const RegionSlot& slot = after.slot(1000);
  EXPECT_EQ(slot.pid.load(), getpid());
  EXPECT_EQ(slot.start_time, base::process_start_time(getpid()));
  EXPECT_EQ(slot.status.load(), static_cast<uint32_t>(SlotStatus::kJoined));
  EXPECT_EQ(slot.assigned_pid, 0);
  EXPECT_EQ(slot.reason, 0U);
  EXPECT_EQ(slot.added_ns, kRegionUnset);
}

TEST_F(FullRegion, OfTheLastFreeSlotsNoneIsGivenTwice) {
  constexpr int kFree = 3;
  constexpr int kProcesses = 8;
  fill(getppid(), base::own_pid_namespace_inode());
  for (uint32_t i = 0; i < kFree; ++i) image_.slot(100 + i).pid.store(0);
  write();
  struct Counts {
    std::atomic<int> started, in, out;
  };
  const test::Shared<Counts> counts;
  std::vector<ForkedChild> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      counts->started.fetch_add(1);
      while (counts->started.load() < kProcesses) sched_yield();
      Region region;
      const Join outcome = join(&region);
      (outcome == Join::kOk ? counts->in : counts->out).fetch_add(1);
      return pause();  // alive, so that its slot stays its own
    });
  }
  EXPECT_TRUE(test::eventually([&] { return counts->in.load() + counts->out.load() == kProcesses; }));
  EXPECT_EQ(counts->in.load(), kFree);
}

TEST_F(FullRegion, NeverTakesAnOwnerOfAnotherNamespaceForDead) {
  fill(dead(), base::own_pid_namespace_inode() + 1);
  write();
  EXPECT_EQ(join_and_leave(), Join::kFull);
}

TEST_F(FullRegion, ADeadOwnersSlotIsKeptAsEvidenceWhileOthersAreFree) {
  fill(dead(), base::own_pid_namespace_inode());
  image_.slot(kRegionSlots - 1).pid.store(0);
  image_.header().claimed.store(kRegionSlots - 2);  // the next in turn is a dead owner's
  write();
  Region region;
  ASSERT_EQ(join(&region), Join::kOk);
  RegionImage after;
  load(&after);
  EXPECT_EQ(after.slot(kRegionSlots - 1).pid.load(), getpid());
  EXPECT_EQ(after.slot(kRegionSlots - 2).assigned_pid, 99);
}

}  // namespace
}  // namespace rollcall::shim
