// Reading what a shim discovered: only a slot with the worker's own PID and start
// time speaks for it, and a file that is not a sound region says nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "evidence_temporary_folder.h"
#include "hostpid/types.h"
#include "shim_region_image.h"
#include "study/identity_source.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;
using shim::SlotStatus;
using test::RegionImage;

constexpr int kPid = 4321;
constexpr uint64_t kStart = 987654;

class IdentitySourceTest : public testing::Test {
 protected:
  static evidence::WorkerRecord worker(int cache = 0) {
    evidence::WorkerRecord record;
    record.cache = cache;
    record.pid = kPid;
    record.start_time = kStart;
    record.nspid = {kPid};
    return record;
  }
  Discovery read(const evidence::WorkerRecord& record) {
    Arm arm;
    arm.identity = IdentitySourceKind::kRollcall;
    const auto source =
        make_identity_source(arm, {{folder_.path() / "cache_0", folder_.path() / "cache_1"}, {}});
    return (*source)->read(record);
  }
  Discovery read_from(const std::string& content) {
    folder_.write("cache_0", content);
    return read(worker());
  }
  void expect_no_evidence(const Discovery& found, const std::string& reason) {
    EXPECT_EQ(found.state, DiscoveryState::kNoEvidence);
    EXPECT_EQ(found.reason, reason);
    EXPECT_EQ(found.source, "rollcall");
    EXPECT_FALSE(found.assigned_pid);
  }

  test::TemporaryFolder folder_;
  RegionImage image_;
};

TEST_F(IdentitySourceTest, AnAssignedSlotIsWhatTheShimClaims) {
  image_.claim(1, kStart, SlotStatus::kAssigned).assigned_pid = 1;
  shim::RegionSlot& slot = image_.claim(kPid, kStart, SlotStatus::kAssigned);
  slot.assigned_pid = 777;  // wrong, perhaps: that is not for the source to judge
  slot.tier = static_cast<uint32_t>(shim::Tier::kSnapshotDiff);
  slot.added_ns = 1500;
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.state, DiscoveryState::kAssigned);
  EXPECT_EQ(found.source, "rollcall");
  EXPECT_EQ(found.assigned_pid, 777);
  EXPECT_EQ(found.tier, "snapshot-diff");
  EXPECT_EQ(found.reason, "");
  EXPECT_EQ(found.added_ns, 1500);
  EXPECT_FALSE(found.context_added_ns);  // not measured is not zero
}

TEST_F(IdentitySourceTest, AFailedSlotSaysWhy) {
  shim::RegionSlot& slot = image_.claim(kPid, kStart, SlotStatus::kFailed);
  slot.reason = static_cast<uint32_t>(shim::Reason::kEqualCounts);
  slot.assigned_pid = 5;  // left over; a failure assigns nothing
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.state, DiscoveryState::kFailed);
  EXPECT_EQ(found.reason, "equal_counts");
  EXPECT_FALSE(found.assigned_pid);
}

// As the arm `tiered` leaves its slot: each number, or the reason why there is none.
class TwoNumbersTest : public IdentitySourceTest {
 protected:
  static uint32_t code(hostpid::Reason reason) {
    return static_cast<uint32_t>(shim::Reason::kHostpidFirst) + static_cast<uint32_t>(reason);
  }
  shim::RegionSlot& slot(SlotStatus status = SlotStatus::kAssigned) {
    return image_.claim(kPid, kStart, status);
  }
  static void set_host(shim::RegionSlot& slot, int32_t pid) {
    slot.assigned_pid = pid;
    slot.tier = static_cast<uint32_t>(shim::Tier::kBroker);
  }
  static void set_nvml(shim::RegionSlot& slot, int32_t pid) {
    slot.nvml_pid = pid;
    slot.nvml_tier = static_cast<uint32_t>(shim::Tier::kChallenge);
  }
};

TEST_F(TwoNumbersTest, BothAreReadEachWithItsTier) {
  shim::RegionSlot& own = slot();
  set_host(own, 777);
  set_nvml(own, 2);
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.state, DiscoveryState::kAssigned);
  EXPECT_EQ(found.assigned_pid, 777);
  EXPECT_EQ(found.tier, "broker");
  EXPECT_EQ(found.assigned_nvml_pid, 2);
  EXPECT_EQ(found.nvml_tier, "challenge");
  EXPECT_EQ(found.reason + found.nvml_reason, "");
}

TEST_F(TwoNumbersTest, TheHostPidAloneLeavesTheOtherMissingWithItsReason) {
  shim::RegionSlot& own = slot();
  set_host(own, 777);
  own.nvml_reason = code(hostpid::Reason::kNoContext);
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.state, DiscoveryState::kAssigned);
  EXPECT_EQ(found.assigned_pid, 777);
  EXPECT_EQ(found.reason, "");
  EXPECT_FALSE(found.assigned_nvml_pid);
  EXPECT_EQ(found.nvml_tier, "");
  EXPECT_EQ(found.nvml_reason, "no_context");
}

TEST_F(TwoNumbersTest, TheHostPidAloneIsNotTakenForBothWhereAReasonIsMissingToo) {
  set_host(slot(), 777);
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.assigned_pid, 777);
  EXPECT_FALSE(found.assigned_nvml_pid);
  EXPECT_EQ(found.nvml_reason, "unknown");
}

TEST_F(TwoNumbersTest, TheNvmlPidAloneIsNotTakenForTheHosts) {
  shim::RegionSlot& own = slot();
  set_nvml(own, 2);
  own.reason = code(hostpid::Reason::kNoBroker);
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.state, DiscoveryState::kAssigned);
  EXPECT_FALSE(found.assigned_pid) << "0 is no PID";
  EXPECT_EQ(found.tier, "");
  EXPECT_EQ(found.reason, "no_broker");
  EXPECT_EQ(found.assigned_nvml_pid, 2);
  EXPECT_EQ(found.nvml_tier, "challenge");
}

TEST_F(TwoNumbersTest, NeitherIsAFailureWithBothReasons) {
  shim::RegionSlot& own = slot(SlotStatus::kFailed);
  own.reason = code(hostpid::Reason::kBrokerBusy);
  own.nvml_reason = code(hostpid::Reason::kListTruncated);
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.state, DiscoveryState::kFailed);
  EXPECT_FALSE(found.assigned_pid);
  EXPECT_FALSE(found.assigned_nvml_pid);
  EXPECT_EQ(found.reason, "broker_busy");
  EXPECT_EQ(found.nvml_reason, "list_truncated");
}

TEST_F(TwoNumbersTest, AReasonThatNobodyKnowsIsNotReadBeyondTheList) {
  shim::RegionSlot& own = slot(SlotStatus::kFailed);
  own.reason = code(hostpid::Reason::kLast) + 1;
  own.nvml_reason = UINT32_MAX;
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.reason, "unknown");
  EXPECT_EQ(found.nvml_reason, "unknown");
}

TEST_F(TwoNumbersTest, ARegionOfTheVersionBeforeTellsOneNumber) {
  set_host(slot(), 777);
  image_.header().minor = 0;
  const Discovery found = read_from(image_.bytes());
  EXPECT_EQ(found.assigned_pid, 777);
  EXPECT_FALSE(found.assigned_nvml_pid);
  EXPECT_EQ(found.nvml_reason, "");
}

TEST_F(IdentitySourceTest, AnUnfinishedDiscoveryIsNoEvidence) {
  for (const auto status :
       {SlotStatus::kEmpty, SlotStatus::kJoined, SlotStatus::kDiscovering, static_cast<SlotStatus>(77)}) {
    RegionImage image;
    image.claim(kPid, kStart, status).assigned_pid = 5;
    expect_no_evidence(read_from(image.bytes()), "discovery_unfinished");
  }
}

TEST_F(IdentitySourceTest, ASlotOfAnotherStartTimeIsSomebodyElses) {
  image_.claim(kPid, kStart - 1, SlotStatus::kAssigned).assigned_pid = 5;
  expect_no_evidence(read_from(image_.bytes()), "no_slot");
}

TEST_F(IdentitySourceTest, ASlotOfAnotherPidIsSomebodyElses) {
  image_.claim(kPid + 1, kStart, SlotStatus::kAssigned).assigned_pid = 5;
  expect_no_evidence(read_from(image_.bytes()), "no_slot");
}

TEST_F(IdentitySourceTest, OfSeveralSlotsWithItsPidItsOwnCounts) {
  image_.claim(kPid, kStart - 100, SlotStatus::kAssigned).assigned_pid = 5;
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  EXPECT_EQ(read_from(image_.bytes()).assigned_pid, 6);
}

TEST_F(IdentitySourceTest, TheSlotCarriesThePidOfTheWorkersOwnNamespace) {
  image_.claim(17, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  folder_.write("cache_0", image_.bytes());
  evidence::WorkerRecord record = worker();
  record.nspid = {kPid, 17};
  EXPECT_EQ(read(record).assigned_pid, 6);
  record.nspid = {};  // not read: the launcher's own view
  expect_no_evidence(read(record), "no_slot");
}

TEST_F(IdentitySourceTest, EveryWorkerIsLookedUpInItsOwnCache) {
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  folder_.write("cache_0", RegionImage().bytes());
  folder_.write("cache_1", image_.bytes());
  expect_no_evidence(read(worker(0)), "no_slot");
  EXPECT_EQ(read(worker(1)).assigned_pid, 6);
}

TEST_F(IdentitySourceTest, AWorkerThatWasNotObservedHasNoEvidence) {
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  folder_.write("cache_0", image_.bytes());
  evidence::WorkerRecord record = worker();
  record.start_time.reset();
  expect_no_evidence(read(record), "worker_not_observed");
  record = worker();
  record.pid.reset();
  expect_no_evidence(read(record), "worker_not_observed");
}

TEST_F(IdentitySourceTest, AMissingRegionIsNoEvidence) {
  expect_no_evidence(read(worker()), "region_missing");
}

TEST_F(IdentitySourceTest, SomethingThatIsNoFileIsNoEvidence) {
  ASSERT_EQ(mkfifo((folder_.path() / "cache_0").c_str(), 0600), 0);
  EXPECT_EQ(read(worker()).state, DiscoveryState::kNoEvidence);  // and it does not wait for a writer
}

TEST_F(IdentitySourceTest, AForeignFileIsNoEvidence) {
  expect_no_evidence(read_from(std::string(shim::kRegionSizeBytes, 'x')), "region_foreign");
  expect_no_evidence(read_from(std::string(5000, 'x')), "region_foreign");
}

TEST_F(IdentitySourceTest, ATruncatedRegionIsNoEvidence) {
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  expect_no_evidence(read_from(image_.bytes(100)), "region_damaged");
  expect_no_evidence(read_from(""), "region_damaged");
  expect_no_evidence(read_from(image_.bytes(sizeof(shim::RegionHeader) + 64)), "region_damaged");
}

TEST_F(IdentitySourceTest, ARegionOfAnotherVersionIsNoEvidence) {
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  image_.header().major = shim::kRegionMajor + 1;
  expect_no_evidence(read_from(image_.bytes()), "region_other_version");
}

TEST_F(IdentitySourceTest, ADamagedRegionIsNoEvidence) {
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  image_.header().slots = 1;
  expect_no_evidence(read_from(image_.bytes()), "region_damaged");
  image_.header().slots = shim::kRegionSlots;
  image_.header().magic.store(0);
  expect_no_evidence(read_from(image_.bytes()), "region_damaged");
}

TEST_F(IdentitySourceTest, AClaimCountBeyondTheSlotsReadsNoFurtherThanTheyGo) {
  image_.slot(shim::kRegionSlots - 1).pid.store(kPid);
  image_.slot(shim::kRegionSlots - 1).start_time = kStart;
  image_.slot(shim::kRegionSlots - 1).status.store(static_cast<uint32_t>(SlotStatus::kAssigned));
  image_.header().claimed.store(UINT32_MAX);
  EXPECT_EQ(read_from(image_.bytes()).state, DiscoveryState::kAssigned);
}

TEST_F(IdentitySourceTest, TimesBelowZeroWereNeverMeasured) {
  shim::RegionSlot& slot = image_.claim(kPid, kStart, SlotStatus::kAssigned);
  slot.added_ns = -1;
  slot.context_added_ns = 0;
  const Discovery found = read_from(image_.bytes());
  EXPECT_FALSE(found.added_ns);
  EXPECT_EQ(found.context_added_ns, 0);
}

TEST_F(IdentitySourceTest, AnArmWithoutDiscoveryHasNothingToRead) {
  image_.claim(kPid, kStart, SlotStatus::kAssigned).assigned_pid = 6;
  folder_.write("cache_0", image_.bytes());
  const auto source = make_identity_source(Arm{}, {{folder_.path() / "cache_0"}, {}});
  EXPECT_EQ((*source)->read(worker()), Discovery{});
}

}  // namespace
}  // namespace rollcall::study
