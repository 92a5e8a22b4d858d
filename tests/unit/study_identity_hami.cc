// Reading what HAMi-core discovered: the region's word, the log's word against it,
// and all that makes either of them no evidence. And telling regions apart.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "evidence_temporary_folder.h"
#include "hami_region_image.h"
#include "shim_region_image.h"
#include "study/identity_source.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;
using test::HamiRegionImage;

constexpr int kPid = 4321;

std::string info(int pid, const std::string& message) {
  return "[HAMI-core Info(" + std::to_string(pid) + ":140303655548736:utils.c:186)]: " + message + "\n";
}
std::string error(int pid, const std::string& message) {
  return "[HAMI-core ERROR (pid:" + std::to_string(pid) +
         " thread=140303655548736 utils.c:153)]: " + message + "\n";
}

class HamiIdentityTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* log : {"log_0", "log_1"}) folder_.write(log, "");
  }
  static evidence::WorkerRecord worker(int64_t pid = kPid, int cache = 0) {
    evidence::WorkerRecord record;
    record.cache = cache;
    record.pid = pid;
    record.nspid = {pid};
    return record;
  }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return folder_.path() / name; }
  Discovery read(const evidence::WorkerRecord& record = worker()) {
    Arm arm;
    arm.identity = IdentitySourceKind::kHamiCore;
    const auto source =
        make_identity_source(arm, {{path("cache_0"), path("cache_1")}, {path("log_0"), path("log_1")}});
    return (*source)->read(record);
  }
  Discovery read_from(const std::string& region, const std::string& log = "") {
    folder_.write("cache_0", region);
    folder_.write("log_0", log);
    return read();
  }
  static void expect_assigned(const Discovery& found, int64_t pid) {
    EXPECT_EQ(found.state, DiscoveryState::kAssigned);
    EXPECT_EQ(found.assigned_pid, pid);
    EXPECT_EQ(found.source, "hami-core");
    EXPECT_EQ(found.tier, "");  // how it discovered is not known
    EXPECT_EQ(found.reason, "");
    EXPECT_FALSE(found.added_ns);
  }
  static void expect_without_pid(const Discovery& found, DiscoveryState state, const std::string& reason) {
    EXPECT_EQ(found.state, state);
    EXPECT_EQ(found.reason, reason);
    EXPECT_EQ(found.source, "hami-core");
    EXPECT_FALSE(found.assigned_pid);
  }
  static void expect_no_evidence(const Discovery& found, const std::string& reason) {
    expect_without_pid(found, DiscoveryState::kNoEvidence, reason);
  }
  static void expect_failed(const Discovery& found, const std::string& reason) {
    expect_without_pid(found, DiscoveryState::kFailed, reason);
  }
  static void expect_contradicting(const Discovery& found, const std::string& reason) {
    expect_without_pid(found, DiscoveryState::kContradicting, reason);
  }

  test::TemporaryFolder folder_;
  HamiRegionImage image_;
};

TEST_F(HamiIdentityTest, TheSlotOfItsPidIsWhatTheWorkerWasAssigned) {
  image_.put_slot(0, 1, 5);
  image_.put_slot(700, kPid, 777);
  expect_assigned(read_from(image_.bytes()), 777);
}

TEST_F(HamiIdentityTest, ALogThatAgreesChangesNothing) {
  image_.put_slot(0, kPid, 777);
  expect_assigned(read_from(image_.bytes(), info(kPid, "hostPid=776") + info(kPid, "hostPid=777")), 777);
}

TEST_F(HamiIdentityTest, ALogThatSpeaksOfOthersOnlyChangesNothing) {
  image_.put_slot(0, kPid, 777);
  expect_assigned(read_from(image_.bytes(), info(43, "hostPid=5") + error(43210, "host pid is error!") +
                                                info(kPid, "Initialized")),
                  777);
}

TEST_F(HamiIdentityTest, InterleavedWorkersAreToldApart) {
  image_.put_slot(0, 11, 101);
  image_.put_slot(1, 12, 102);
  folder_.write("cache_0", image_.bytes());
  folder_.write("log_0", info(11, "Initializing.....") + info(12, "Initializing.....") +
                             info(12, "hostPid=102") + info(11, "hostPid=101") + info(12, "SET PID= 102"));
  expect_assigned(read(worker(11)), 101);
  expect_assigned(read(worker(12)), 102);
}

TEST_F(HamiIdentityTest, RegionAndLogThatDifferContradict) {
  image_.put_slot(0, kPid, 777);
  expect_contradicting(read_from(image_.bytes(), info(kPid, "hostPid=777") + info(kPid, "hostPid=778")),
                       "region_and_log_differ");
  expect_contradicting(read_from(image_.bytes(), error(kPid, "host pid is error!")), "region_and_log_differ");
  image_.put_slot(0, kPid, 0);
  expect_contradicting(read_from(image_.bytes(), info(kPid, "hostPid=777")), "region_and_log_differ");
}

TEST_F(HamiIdentityTest, ASlotWithoutAHostPidIsAFailure) {
  image_.put_slot(0, kPid, 0);
  expect_failed(read_from(image_.bytes()), "no_host_pid");
  expect_failed(read_from(image_.bytes(), error(kPid + 1, "host pid is error!")), "no_host_pid");
}

TEST_F(HamiIdentityTest, TheLogSaysWhyItFailed) {
  image_.put_slot(0, kPid, 0);
  expect_failed(read_from(image_.bytes(), error(kPid, "host pid is error!")), "host_pid_error");
  expect_failed(read_from(image_.bytes(), error(kPid, "HOST PID NOT FOUND. 4321")), "host_pid_not_found");
  expect_failed(read_from(image_.bytes(), info(kPid, "Skipped host PID detection due to lock timeout")),
                "lock_timeout");
  expect_failed(
      read_from(image_.bytes(), info(kPid, "SET_TASK_PID FAILED - using container PID for accounting")),
      "set_task_pid_failed");
}

TEST_F(HamiIdentityTest, TheCauseOfAFailureIsNotHiddenByWhatFollowsIt) {
  image_.put_slot(0, kPid, 0);
  expect_failed(
      read_from(image_.bytes(), error(kPid, "host pid is error!") +
                                    info(kPid, "SET_TASK_PID FAILED - using container PID for accounting")),
      "host_pid_error");
}

TEST_F(HamiIdentityTest, WhereTheLogCannotBeFollowedTheRegionStandsAlone) {
  image_.put_slot(0, kPid, 777);
  folder_.write("cache_0", image_.bytes());
  folder_.write("log_0", info(kPid, "hostPid=5"));
  std::filesystem::resize_file(path("log_0"), (size_t{64} << 20) + 1);
  const Discovery behind = read();  // longer than is read at once: 5 need not be its last word
  EXPECT_EQ(behind.assigned_pid, 777);
  EXPECT_EQ(behind.source, "hami-core-region") << "and that nothing could contradict it is to be seen";
  std::filesystem::remove(path("log_0"));
  EXPECT_EQ(read().source, "hami-core-region");
}

TEST_F(HamiIdentityTest, ATornLogLineSaysNothing) {
  image_.put_slot(0, kPid, 777);
  std::string half = info(kPid, "hostPid=77");
  half.pop_back();  // without its end
  expect_assigned(read_from(image_.bytes(), half), 777);
}

TEST_F(HamiIdentityTest, TwoSlotsOfOnePidThatDisagreeContradict) {
  image_.put_slot(3, kPid, 777);
  image_.put_slot(9, kPid, 777);
  expect_assigned(read_from(image_.bytes()), 777);
  image_.put_slot(9, kPid, 0);
  expect_contradicting(read_from(image_.bytes()), "two_slots");
  image_.put_slot(9, kPid, 778);
  expect_contradicting(read_from(image_.bytes(), info(kPid, "hostPid=777")), "two_slots");
}

TEST_F(HamiIdentityTest, WithoutASlotThereIsNoEvidenceWhateverTheLogSays) {
  image_.put_slot(0, kPid + 1, 777);
  expect_no_evidence(read_from(image_.bytes(), info(kPid, "hostPid=777")), "no_slot");
}

TEST_F(HamiIdentityTest, AHostPidBelowZeroIsDamage) {
  image_.put_slot(0, kPid, -1);
  expect_no_evidence(read_from(image_.bytes()), "slot_damaged");
}

TEST_F(HamiIdentityTest, TheSlotCarriesThePidOfTheWorkersOwnNamespace) {
  image_.put_slot(0, 17, 777);
  image_.put_slot(1, kPid, 5);
  folder_.write("cache_0", image_.bytes());
  evidence::WorkerRecord record = worker();
  record.nspid = {kPid, 17};
  expect_assigned(read(record), 777);
  record.nspid = {};  // not known: 4321 may be another's PID in its own namespace
  expect_no_evidence(read(record), "worker_not_observed");
  record = worker();
  record.pid.reset();
  expect_no_evidence(read(record), "worker_not_observed");
}

TEST_F(HamiIdentityTest, EveryWorkerIsLookedUpInItsOwnCacheAndLog) {
  image_.put_slot(0, kPid, 777);
  folder_.write("cache_0", HamiRegionImage().bytes());
  folder_.write("cache_1", image_.bytes());
  folder_.write("log_0", info(kPid, "hostPid=5"));
  expect_no_evidence(read(worker(kPid, 0)), "no_slot");
  expect_assigned(read(worker(kPid, 1)), 777);
  expect_no_evidence(read(worker(kPid, 2)), "region_missing");
}

TEST_F(HamiIdentityTest, AFileThatIsNoSoundRegionIsNoEvidence) {
  image_.put_slot(0, kPid, 777);
  expect_no_evidence(read(), "region_missing");
  expect_no_evidence(read_from(image_.bytes(2000000)), "region_truncated");
  expect_no_evidence(read_from(image_.bytes(10)), "region_truncated");
  expect_no_evidence(read_from(""), "region_damaged");
  expect_no_evidence(read_from(std::string(2008953, '\0')), "region_damaged");
  expect_no_evidence(read_from(std::string(2008953, 'x')), "region_foreign");
  expect_no_evidence(read_from(test::RegionImage().bytes()), "region_foreign");
  image_.put(8, 3);
  expect_no_evidence(read_from(image_.bytes()), "region_other_version");
}

TEST_F(HamiIdentityTest, SomethingThatIsNoFileIsNoEvidence) {
  ASSERT_EQ(mkfifo(path("cache_0").c_str(), 0600), 0);
  expect_no_evidence(read(), "region_unreadable");  // and it does not wait for a writer
  std::filesystem::create_directory(path("cache_1"));
  expect_no_evidence(read(worker(kPid, 1)), "region_unreadable");
}

// Another process may do anything to the file meanwhile; it costs the evidence at
// worst, and never makes up a PID.
TEST_F(HamiIdentityTest, ARegionThatChangesItsSizeWhileItIsReadNeverMakesUpAPid) {
  image_.put_slot(1000, kPid, 777);
  folder_.write("cache_0", image_.bytes());
  std::atomic<bool> done = false;
  std::thread other([this, &done] {
    const std::string whole = image_.bytes();
    while (!done) {
      for (const size_t size : {size_t{0}, size_t{100000}, size_t{5000000}}) {
        std::filesystem::resize_file(path("cache_0"), size);
      }
      std::ofstream(path("cache_0"), std::ios::in | std::ios::out | std::ios::binary) << whole;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const Discovery found = read();
    if (found.state == DiscoveryState::kAssigned) {
      EXPECT_EQ(found.assigned_pid, 777);
    } else if (found.state == DiscoveryState::kFailed) {
      ADD_FAILURE() << "a failure was made up: " << found.reason;
    }
  }
  done = true;
  other.join();
}

TEST_F(HamiIdentityTest, ASlotThatMovesWhileItIsReadIsFoundOrHonestlyMissed) {
  image_.put_slot(1000, kPid, 777);
  folder_.write("cache_0", image_.bytes());
  std::atomic<bool> done = false;
  std::thread other([this, &done] {
    std::fstream file(path("cache_0"), std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&file](size_t index, int32_t pid, int32_t host_pid) {
      const int32_t slot[2] = {pid, host_pid};
      file.seekp(static_cast<std::streamoff>(1856 + 1960 * index));
      file.write(reinterpret_cast<const char*>(slot), sizeof slot);
      file.flush();
    };
    while (!done) {
      put(2, kPid, 777);
      put(1000, 0, 0);
      put(1000, kPid, 777);
      put(2, 0, 0);
    }
  });
  for (int i = 0; i < 300; ++i) {
    const Discovery found = read();
    if (found.state == DiscoveryState::kAssigned) {
      EXPECT_EQ(found.assigned_pid, 777);
    } else {
      EXPECT_TRUE(found.reason == "no_slot" || found.reason == "slot_unsettled") << found.reason;
    }
  }
  done = true;
  other.join();
}

TEST_F(HamiIdentityTest, ACacheFileTellsWhoseItIs) {
  folder_.write("hami", image_.bytes());
  folder_.write("rollcall", test::RegionImage().bytes());
  EXPECT_EQ(detect_identity_source(path("hami")).kind, IdentitySourceKind::kHamiCore);
  EXPECT_EQ(detect_identity_source(path("hami")).why, "");
  EXPECT_EQ(detect_identity_source(path("rollcall")).kind, IdentitySourceKind::kRollcall);
  EXPECT_EQ(detect_identity_source(path("rollcall")).why, "");
}

TEST_F(HamiIdentityTest, ACacheFileOfAnotherKindIsSaidToBe) {
  const auto expect_none = [this](const std::string& content, const std::string& why) {
    folder_.write("cache", content);
    const DetectedSource found = detect_identity_source(path("cache"));
    EXPECT_EQ(found.kind, IdentitySourceKind::kNone) << why;
    EXPECT_NE(found.why.find(why), std::string::npos) << found.why;
  };
  const DetectedSource missing = detect_identity_source(path("missing"));
  EXPECT_EQ(missing.kind, IdentitySourceKind::kNone);
  EXPECT_EQ(missing.why, "there is no such file");
  EXPECT_EQ(detect_identity_source(folder_.path()).why, "it cannot be read as a file");
  expect_none("", "blank");
  expect_none(std::string(2008953, '\0'), "blank");
  expect_none(std::string(test::RegionImage().bytes().size(), '\0'), "blank");
  expect_none("FRGN and more", "begins like no region that is known");
  expect_none(image_.bytes(5000), "has only 5000 of 2008952 bytes");
  image_.put(8, 3);
  expect_none(image_.bytes(), "HAMi-core's of version 1.3, known is 1.2");
  test::RegionImage own;
  expect_none(own.bytes(5000), "Rollcall's, but damaged");
  own.header().major = shim::kRegionMajor + 1;
  own.header().minor = 0;
  expect_none(own.bytes(), "Rollcall's of version 2.0, known is 1.1");
}

}  // namespace
}  // namespace rollcall::study
