// Which of two numbers the workers know: right, wrong, unresolved or missing, each worker
// in exactly one of the four for each number.
#include <gtest/gtest.h>

#include "analysis/knowledge.h"
#include "analysis/summary.h"
#include "analysis_runs.h"

namespace rollcall::analysis {
namespace {

using evidence::DiscoveryState;
using test::assign;
using test::forget_both;
using test::forget_host;
using test::forget_nvml;
using test::good_run;
using test::good_tiered_run;
using test::isolate;
using test::kMs;
using test::pid_of;
using test::unassign;
using Counts = std::map<std::string, int>;

Knowledge of(const evidence::Run& run) {
  return knowledge_of({&run});
}

NumberKnowledge all_right(int workers, const std::string& tier) {
  NumberKnowledge number;
  number.right = workers;
  number.tiers = {{tier, workers}};
  return number;
}

TEST(Knowledge, BothNumbersRightAreCountedByTheTierOfEach) {
  auto run = good_tiered_run("1x3");
  for (auto& worker : run.workers) worker.discovery.nvml_tier = "challenge";
  run.workers[2].discovery.tier = "initial-namespace";
  const Knowledge found = of(run);
  EXPECT_EQ(found.host.right, 3);
  EXPECT_EQ(found.host.tiers, (Counts{{"broker", 2}, {"initial-namespace", 1}}));
  EXPECT_EQ(found.nvml, all_right(3, "challenge"));
}

TEST(Knowledge, ANumberThatIsNotKnownIsMissingWithItsReasonAndTheOtherStays) {
  auto run = good_tiered_run("1x3");
  forget_nvml(run, 0, "no_context");
  forget_nvml(run, 1, "no_context");
  forget_host(run, 2, "view_not_global");
  const Knowledge found = of(run);
  EXPECT_EQ(found.host.right, 2);
  EXPECT_EQ(found.host.missing, 1);
  EXPECT_EQ(found.host.reasons, (Counts{{"view_not_global", 1}}));
  EXPECT_EQ(found.nvml.right, 1);
  EXPECT_EQ(found.nvml.missing, 2);
  EXPECT_EQ(found.nvml.reasons, (Counts{{"no_context", 2}}));
}

TEST(Knowledge, AFailedDiscoveryMissesBothEachForItsOwnReason) {
  auto run = good_tiered_run("1x2");
  for (int i = 0; i < 2; ++i) forget_both(run, i, "no_broker", "no_context");
  const Knowledge found = of(run);
  EXPECT_EQ(found.host.missing, 2);
  EXPECT_EQ(found.host.reasons, (Counts{{"no_broker", 2}}));
  EXPECT_EQ(found.nvml.missing, 2);
  EXPECT_EQ(found.nvml.reasons, (Counts{{"no_context", 2}}));
}

TEST(Knowledge, AWrongNumberIsWrongWhoseverItIsAndProvesNoTier) {
  auto run = good_tiered_run("1x3");
  run.workers[0].discovery.assigned_nvml_pid = pid_of(1);
  run.workers[1].discovery.assigned_nvml_pid = 99'999;
  const Knowledge found = of(run);
  EXPECT_EQ(found.host, all_right(3, "broker"));
  EXPECT_EQ(found.nvml.right, 1);
  EXPECT_EQ(found.nvml.wrong, 2);
  EXPECT_EQ(found.nvml.tiers, (Counts{{"broker", 1}}));
}

TEST(Knowledge, WhatIsClaimedAndCannotBeJudgedIsUnresolved) {
  auto run = good_tiered_run("2x2");
  isolate(run, evidence::NvmlView::kUnknown);
  const Knowledge found = of(run);
  EXPECT_EQ(found.host, all_right(4, "broker"));
  EXPECT_EQ(found.nvml.unresolved, 4);
  EXPECT_EQ(found.nvml.missing + found.nvml.right + found.nvml.wrong, 0);
}

TEST(Knowledge, ANumberThatIsNoPidIsUnresolvedAndNotMissing) {
  auto run = good_tiered_run("1x1");
  forget_nvml(run, 0, "no_context");
  assign(run, 0, -3);
  const Knowledge found = of(run);
  EXPECT_EQ(found.host.unresolved, 1);
  EXPECT_EQ(found.nvml.missing, 1);
}

TEST(Knowledge, NoEvidenceIsNoAnswer) {
  auto run = good_tiered_run("1x3");
  run.workers[0].discovery = {};
  run.workers[0].discovery.reason = "no_slot";
  run.workers[1].discovery = {};
  run.workers[1].discovery.state = DiscoveryState::kContradicting;
  run.workers.pop_back();
  const Knowledge found = of(run);
  for (const NumberKnowledge& number : {found.host, found.nvml}) {
    EXPECT_EQ(number.unresolved, 3) << "a worker without a record is one of them";
    EXPECT_EQ(number.missing, 0) << "nobody said that it does not know";
    EXPECT_EQ(number.reasons, (Counts{{"no_slot", 1}}));
  }
}

TEST(Knowledge, ASourceOfOneNumberMeansBothByIt) {
  auto run = good_run("1x2", "mine");
  run.record.identity_kind = evidence::IdentityKind::kBoth;
  unassign(run, 1, DiscoveryState::kFailed);
  run.workers[1].discovery.reason = "said_so_in_log";
  const Knowledge found = of(run);
  EXPECT_EQ(found.host, found.nvml);
  EXPECT_EQ(found.host.right, 1);
  EXPECT_EQ(found.host.tiers, (Counts{{"snapshot-diff", 1}}));
  EXPECT_EQ(found.host.reasons, (Counts{{"said_so_in_log", 1}}));
}

TEST(Knowledge, RunsAddUpAndTheSummaryCountsOnlyValidOnes) {
  auto broken = good_tiered_run("1x2", 3, 3);
  broken.workers[0].fate = evidence::Fate::kDied;
  const auto summary = summarise({good_tiered_run("1x2", 1, 1), good_tiered_run("1x2", 2, 2), broken});
  ASSERT_TRUE(summary.conditions.at(0).knowledge);
  EXPECT_EQ(summary.conditions[0].knowledge->host, all_right(4, "broker"));
}

TEST(Knowledge, ThereIsNoneOfArmsOfOneNumberNorWithoutAValidRun) {
  auto broken = good_tiered_run("1x2", 3);
  broken.workers[0].fate = evidence::Fate::kDied;
  const auto summary = summarise({good_run("1x2", "native", 1), good_run("1x2", "legacy", 2), broken});
  ASSERT_EQ(summary.conditions.size(), 3U);
  for (const Condition& c : summary.conditions) EXPECT_FALSE(c.knowledge) << c.arm;
}

TEST(AddedTime, IsOverAllWorkersOfTheValidRunsThatTellIt) {
  auto first = good_tiered_run("1x3", 1, 1);
  auto second = good_tiered_run("1x3", 2, 2);
  auto broken = good_tiered_run("1x3", 3, 3);
  broken.workers[0].fate = evidence::Fate::kDied;
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<size_t>(i);
    first.workers[at].discovery.added_ns = (i + 1) * kMs;
    second.workers[at].discovery.added_ns = (i + 11) * kMs;
    broken.workers[at].discovery.added_ns = 999 * kMs;
  }
  second.workers[0].discovery.added_ns.reset();
  first.workers[0].discovery.context_added_ns = 0;
  const auto summary = summarise({first, second, broken});
  const Condition& c = summary.conditions.at(0);
  EXPECT_EQ(c.added.n, 5) << "one of the six did not tell: that is not 0";
  EXPECT_EQ(c.added.p50_ns, 3 * kMs) << "rank 3 of 1, 2, 3, 12, 13";
  EXPECT_EQ(c.added.p99_ns, 13 * kMs);
  EXPECT_EQ(c.context_added.n, 1);
  EXPECT_EQ(c.context_added.p50_ns, 0) << "measured, and 0";
}

TEST(AddedTime, IsNotKnownWhereNobodyTells) {
  const auto summary = summarise({good_run("1x2", "native")});
  const Condition& c = summary.conditions.at(0);
  EXPECT_EQ(c.added.n, 0);
  EXPECT_FALSE(c.added.p50_ns);
  EXPECT_FALSE(c.context_added.p99_ns);
}

TEST(Settings, ABrokerOfSomeRunsIsSaidOnceAndIsNoOtherSetting) {
  auto tiered = good_tiered_run("1x2", 2);
  tiered.record.broker = true;
  const auto summary = summarise({good_run("1x2", "native", 1), tiered, good_run("1x2", "native", 3, 2)});
  ASSERT_EQ(summary.settings.size(), 1U);
  EXPECT_TRUE(summary.settings[0].broker);
  EXPECT_FALSE(summarise({good_run("1x2", "native")}).settings.at(0).broker);
}

}  // namespace
}  // namespace rollcall::analysis
