// The log source: what an arm's expressions find in the log of the worker's cache,
// and which expressions are refused.
#include <gtest/gtest.h>

#include <fstream>

#include "evidence_temporary_folder.h"
#include "study/identity_source.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

constexpr int kPid = 4321;

class LogIdentityTest : public testing::Test {
 protected:
  static evidence::WorkerRecord worker(int64_t pid = kPid, int cache = 0) {
    evidence::WorkerRecord record;
    record.cache = cache;
    record.pid = pid;
    record.nspid = {pid};
    return record;
  }
  IdentitySource& source() {
    if (!source_) {
      Arm arm;
      arm.name = "mine";
      arm.identity = IdentitySourceKind::kLog;
      arm.log = patterns_;
      auto made = make_identity_source(arm, {{}, {path("log_0"), path("log_1")}});
      EXPECT_TRUE(made);
      source_ = std::move(*made);
    }
    return *source_;
  }
  Discovery read(const evidence::WorkerRecord& record = worker()) { return source().read(record); }
  Discovery read_from(const std::string& log) {
    source_.reset();
    folder_.write("log_0", log);
    return read();
  }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return folder_.path() / name; }
  static void expect_assigned(const Discovery& found, int64_t pid) {
    EXPECT_EQ(found.state, DiscoveryState::kAssigned);
    EXPECT_EQ(found.assigned_pid, pid);
    EXPECT_EQ(found.source, "log");
    EXPECT_EQ(found.tier, "");  // how it discovered is not known
    EXPECT_EQ(found.reason, "");
  }
  static void expect_without_pid(const Discovery& found, DiscoveryState state, const std::string& reason) {
    EXPECT_EQ(found.state, state);
    EXPECT_EQ(found.reason, reason);
    EXPECT_EQ(found.source, "log");
    EXPECT_FALSE(found.assigned_pid);
  }
  static void expect_no_evidence(const Discovery& found, const std::string& reason) {
    expect_without_pid(found, DiscoveryState::kNoEvidence, reason);
  }

  test::TemporaryFolder folder_;
  LogPatterns patterns_ = {R"(shim\[(?P<own>[^\]]+)\]: I am (?P<assigned>\S+))",
                           R"(shim\[(?P<own>\d+)\]: gave up.*)"};
  std::unique_ptr<IdentitySource> source_;
};

TEST_F(LogIdentityTest, WhatAWorkerSaidLastCounts) {
  expect_assigned(read_from("shim[4321]: I am 7\nshim[4321]: I am 777\n"), 777);
}

TEST_F(LogIdentityTest, OnlyAWholeLineIsAStatement) {
  expect_assigned(read_from("shim[4321]: I am 777\r\n"), 777);
  expect_no_evidence(read_from("10:00 shim[4321]: I am 777\n"), "not_in_log");
  expect_no_evidence(read_from("shim[4321]: I am 777 (sure)\n"), "not_in_log");
  // Two writers, each with half of its line: nobody said that 4321 is 99.
  expect_no_evidence(read_from("shim[99]: I am shim[4321]: I am 99\n4321\n"), "not_in_log");
}

TEST_F(LogIdentityTest, WhatMayStandAroundItIsForThePattern) {
  patterns_.assigned = R"(.* shim\[(?P<own>\d+)\]: I am (?P<assigned>\d+).*)";
  expect_assigned(read_from("10:00 \xff\xfe shim[4321]: I am 777 (sure)\r\n"), 777);
}

TEST_F(LogIdentityTest, WhatOthersSaidBetweenItsLinesDoesNotCount) {
  expect_assigned(
      read_from("shim[1]: I am 5\nshim[4321]: I am 777\nshim[43]: I am 6\nshim[43210]: gave up\n"), 777);
}

TEST_F(LogIdentityTest, AFailureThatItAdmitsIsAFailure) {
  expect_without_pid(read_from("shim[4321]: I am 7\nshim[4321]: gave up (lock)\n"), DiscoveryState::kFailed,
                     "said_so_in_log");
}

TEST_F(LogIdentityTest, WithoutAPatternForFailuresNobodyFails) {
  patterns_.failed.clear();
  expect_no_evidence(read_from("shim[4321]: gave up\n"), "not_in_log");
}

TEST_F(LogIdentityTest, WhoDidNotSpeakHasNoEvidence) {
  expect_no_evidence(read_from("shim[1]: I am 4321\n"), "not_in_log");
  expect_no_evidence(read_from(""), "not_in_log");
}

TEST_F(LogIdentityTest, ANumberThatIsNoPidMakesTheStatementUnclear) {
  for (const char* number : {"0", "-5", "5x", "9223372036854775808", "+5"}) {
    expect_no_evidence(read_from(std::string("shim[4321]: I am 7\nshim[4321]: I am ") + number + "\n"),
                       "unclear_in_log");
  }
  expect_assigned(read_from("shim[4321]: I am 9223372036854775807\n"), INT64_MAX);
}

TEST_F(LogIdentityTest, ALineThatSaysBothIsUnclear) {
  patterns_.assigned = R"(shim\[(?P<own>\d+)\]:.* I am (?P<assigned>\d+))";
  expect_no_evidence(read_from("shim[4321]: gave up, yet I am 7\n"), "unclear_in_log");
}

TEST_F(LogIdentityTest, AGroupThatTookNoPartIsNoNumber) {
  patterns_.assigned = R"(shim\[(?P<own>\d+)\]: (I am (?P<assigned>\d+)|nobody))";
  expect_no_evidence(read_from("shim[4321]: I am 7\nshim[4321]: nobody\n"), "unclear_in_log");
}

TEST_F(LogIdentityTest, ASpeakerWithoutAPidIsNobody) {
  expect_assigned(read_from("shim[4321]: I am 7\nshim[x]: I am 8\nshim[-4321]: I am 9\n"), 7);
}

TEST_F(LogIdentityTest, TheGroupsMayComeInAnyOrder) {
  patterns_.assigned = R"((?P<assigned>\d+) (is) (?P<own>\d+))";
  expect_assigned(read_from("777 is 4321\n"), 777);
}

TEST_F(LogIdentityTest, EveryWorkerIsLookedUpInTheLogOfItsCache) {
  folder_.write("log_0", "shim[4321]: I am 7\n");
  folder_.write("log_1", "shim[4321]: I am 8\n");
  expect_assigned(read(worker(kPid, 0)), 7);
  expect_assigned(read(worker(kPid, 1)), 8);
  expect_no_evidence(read(worker(kPid, 2)), "log_missing");
}

TEST_F(LogIdentityTest, AWorkerSpeaksUnderThePidOfItsOwnNamespace) {
  folder_.write("log_0", "shim[17]: I am 7\nshim[4321]: I am 8\n");
  evidence::WorkerRecord record = worker();
  record.nspid = {kPid, 17};
  expect_assigned(read(record), 7);
  record.nspid = {};  // not known: 4321 may be another's PID in its own namespace
  expect_no_evidence(read(record), "worker_not_observed");
  record = worker();
  record.pid.reset();
  expect_no_evidence(read(record), "worker_not_observed");
}

TEST_F(LogIdentityTest, TheLogIsFollowedFromWorkerToWorker) {
  folder_.write("log_0", "shim[1]: I am 7\nshim[2]: I am ");
  expect_assigned(read(worker(1)), 7);
  expect_no_evidence(read(worker(2)), "not_in_log");
  std::ofstream(path("log_0"), std::ios::app) << "8\n";
  expect_assigned(read(worker(2)), 8);
}

TEST_F(LogIdentityTest, ALogThatCannotBeReadToItsEndIsNoEvidence) {
  expect_no_evidence(read(), "log_missing");
  folder_.write("log_0", "shim[4321]: I am 7\n");
  std::filesystem::resize_file(path("log_0"), (size_t{64} << 20) + 1);
  expect_no_evidence(read(), "log_too_long");
  expect_assigned(read(), 7);  // it goes on where it was
  std::filesystem::resize_file(path("log_0"), 10);
  expect_no_evidence(read(), "log_truncated");
  std::filesystem::create_directory(path("log_1"));
  expect_no_evidence(read(worker(kPid, 1)), "log_unreadable");
}

TEST_F(LogIdentityTest, MoreSpeakersThanAreRememberedAreNotTakenForSilent) {
  std::string log;
  for (int pid = 100001; pid <= 165536; ++pid) log += "shim[" + std::to_string(pid) + "]: I am 5\n";
  expect_no_evidence(read_from(log), "not_in_log");
  expect_no_evidence(read_from(log + "shim[4321]: I am 7\n"), "log_too_many_pids");
  expect_assigned(read(worker(165536)), 5);
}

// Expressions that are refused, with a word about which and why.
void expect_refused(const LogPatterns& patterns, const std::string& says) {
  const auto checked = check_log_patterns(patterns, "plan.toml:3");
  ASSERT_FALSE(checked) << says;
  EXPECT_EQ(checked.error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(checked.error().where, "plan.toml:3");
  EXPECT_NE(checked.error().line().find(says), std::string::npos) << checked.error().line();
}

TEST_F(LogIdentityTest, SoundPatternsAreAccepted) {
  EXPECT_TRUE(check_log_patterns(patterns_, ""));
  EXPECT_TRUE(check_log_patterns({patterns_.assigned, ""}, ""));
}

TEST_F(LogIdentityTest, ABrokenExpressionIsNamed) {
  expect_refused({"(?P<own>\\d+", ""}, "'log_assigned' is not a regular expression: missing )");
  expect_refused({patterns_.assigned, "[a"}, "'log_failed' is not a regular expression");
}

TEST_F(LogIdentityTest, AGroupThatIsNamedTwiceIsAmbiguous) {
  expect_refused({"(?P<own>1)|(?P<own>2)(?P<assigned>3)", ""},
                 "'log_assigned' has more than one group named 'own'");
}

TEST_F(LogIdentityTest, AMissingGroupIsNamed) {
  expect_refused({"", ""}, "'log_assigned' has no group named 'own'");
  expect_refused({"(?P<own>\\d+)", ""}, "'log_assigned' has no group named 'assigned'");
  expect_refused({"(?P<assigned>\\d+)", ""}, "'log_assigned' has no group named 'own'");
  expect_refused({patterns_.assigned, "gave up"}, "'log_failed' has no group named 'own'");
}

TEST_F(LogIdentityTest, AnExpressionOfUnboundedSizeIsRefused) {
  expect_refused({patterns_.assigned + std::string(5000, 'a'), ""},
                 "'log_assigned' is longer than 4096 bytes");
  expect_refused({"((((a{100}){100}){100}){100})(?P<own>1)(?P<assigned>2)", ""},
                 "'log_assigned' is not a regular expression");
}

TEST_F(LogIdentityTest, AnArmWithBrokenPatternsHasNoSource) {
  Arm arm;
  arm.name = "mine";
  arm.identity = IdentitySourceKind::kLog;
  const auto made = make_identity_source(arm, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().where, "arm mine");
}

}  // namespace
}  // namespace rollcall::study
