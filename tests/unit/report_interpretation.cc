// The sentences of a report: each is said exactly where its rule holds.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis_runs.h"
#include "report/model.h"

namespace rollcall::report {
namespace {

using test::assign;
using test::good_run;
using test::kMs;
using test::kSecond;
using test::pid_of;

std::vector<evidence::Run> repeated(const std::string& topology, const std::string& arm, int64_t wall_ns,
                                    int runs, int64_t spread_ns = 10 * kMs) {
  std::vector<evidence::Run> list;
  for (int i = 1; i <= runs; ++i) {
    auto run = good_run(topology, arm, i, i);
    run.record.last_gone_ns = wall_ns + *run.record.collect_ns + i * spread_ns;
    list.push_back(run);
  }
  return list;
}

ReportSource source_of(std::vector<evidence::Run> a, const std::vector<evidence::Run>& b = {}) {
  ReportSource source;
  source.runs = std::move(a);
  source.runs.insert(source.runs.end(), b.begin(), b.end());
  for (size_t i = 0; i < source.runs.size(); ++i) source.runs[i].record.number = static_cast<int>(i) + 1;
  return source;
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& sentence) { return sentence.find(part) != std::string::npos; });
}
bool interpretation_says(const ReportSource& source, const std::string& part) {
  return says(build_model(source).interpretation, part);
}
bool limits_say(const ReportSource& source, const std::string& part) {
  return says(build_model(source).limits, part);
}

TEST(Interpretation, SlowerOrFasterOnlyWhereTheIntervalLeavesOneOut) {
  const auto native = repeated("1x2", "native", 10 * kSecond, 3);
  EXPECT_TRUE(interpretation_says(source_of(native, repeated("1x2", "legacy", 50 * kSecond, 3)),
                                  "1x2 legacy is slower than native: 4.99× the wall time"));
  EXPECT_TRUE(interpretation_says(source_of(native, repeated("1x2", "legacy", 5 * kSecond, 3)),
                                  "1x2 legacy is faster than native: 0.50× the wall time"));
  const auto same = source_of(native, repeated("1x2", "legacy", 10 * kSecond, 3, 500 * kMs));
  EXPECT_TRUE(interpretation_says(same, "is not decided"));
  EXPECT_FALSE(interpretation_says(same, "slower than native:"));
}

TEST(Interpretation, WithoutWallTimesTheSpanTellsTheCost) {
  auto source =
      source_of(repeated("1x2", "native", 10 * kSecond, 3), repeated("1x2", "hami", 50 * kSecond, 3));
  for (evidence::Run& run : source.runs) {
    run.record.last_gone_ns.reset();
    for (auto& worker : run.workers) {
      worker.finished_ns = (run.record.arm == "native" ? 1 : 4) * kSecond + run.record.repetition * kMs;
    }
  }
  EXPECT_TRUE(interpretation_says(source, "1x2 hami is slower than native: 3.99× the span"));
  EXPECT_FALSE(interpretation_says(source, "wall time"));
}

TEST(Interpretation, NvmlInitIsNotHeldAgainstCuInit) {
  const auto source =
      source_of(repeated("1x2", "native", 10 * kSecond, 3), repeated("1x2", "nvml-only", kSecond, 3));
  EXPECT_FALSE(interpretation_says(source, "1x2 nvml-only is"));
}

TEST(Interpretation, NoPeerIsNoGoodNewsWhereOthersAreWrong) {
  auto source = source_of(repeated("1x100", "legacy", 10 * kSecond, 3));
  assign(source.runs[0], 0, 99'999);
  test::unassign(source.runs[0], 1, evidence::DiscoveryState::kFailed);
  EXPECT_TRUE(
      interpretation_says(source, "no peer among 300 workers (but 1 failed and 1 hold a PID of no worker)"));
}

TEST(Interpretation, OfASingleRunNothingIsSure) {
  EXPECT_TRUE(interpretation_says(
      source_of(repeated("1x2", "native", 10 * kSecond, 1), repeated("1x2", "legacy", 50 * kSecond, 1)),
      "from a single run on a side nothing can be said"));
}

TEST(Interpretation, WithoutNativeNoCostIsTold) {
  const auto source = source_of(repeated("1x2", "legacy", 10 * kSecond, 3));
  EXPECT_FALSE(interpretation_says(source, "native"));
  EXPECT_TRUE(limits_say(source, "no cost can be told"));
}

TEST(Interpretation, ThatNoPeerWasSeenIsABoundAndNoProof) {
  auto source = source_of(repeated("1x100", "legacy", 10 * kSecond, 3));
  EXPECT_TRUE(interpretation_says(source,
                                  "1x100 legacy: no peer among 300 workers. If workers were independent, "
                                  "their share would be below 1 %"));
  assign(source.runs[0], 0, pid_of(1));
  EXPECT_FALSE(interpretation_says(source, "no peer among"));
  // An unresolved one may have been a peer.
  source = source_of(repeated("1x100", "legacy", 10 * kSecond, 3));
  test::unassign(source.runs[0], 0, evidence::DiscoveryState::kNoEvidence);
  EXPECT_FALSE(interpretation_says(source, "no peer among"));
  // Alone, or too few.
  EXPECT_FALSE(interpretation_says(source_of(repeated("1x1", "legacy", kSecond, 3)), "no peer among"));
  EXPECT_TRUE(interpretation_says(source_of(repeated("1x2", "legacy", kSecond, 1)), "too few to bound"));
}

TEST(Interpretation, GrowthIsFromTheFewestToTheMost) {
  EXPECT_TRUE(interpretation_says(
      source_of(repeated("1x10", "native", 2 * kSecond, 1, 0),
                repeated("1x50", "native", 20 * kSecond, 1, 0)),
      "native, one shared cache: from 10 to 50 workers (5 times as many) the wall time went from 2.000 s to "
      "20.000 s: 10 times as long."));
}

TEST(Interpretation, OutliersAreNamedAndCounted) {
  auto runs = repeated("1x2", "native", 10 * kSecond, 7);
  runs[6].record.last_gone_ns = 900 * kSecond;
  const auto source = source_of(runs);
  EXPECT_TRUE(interpretation_says(source,
                                  "One run lies far from the others of its condition in some measure: "
                                  "007-1x2-native-r7. It is counted all the same."));
  EXPECT_FALSE(build_model(source).outliers.rows.empty());
}

TEST(Limits, FewRunsAreSaidBelowFive) {
  EXPECT_TRUE(limits_say(source_of(repeated("1x2", "legacy", kSecond, 4)), "Few runs: 4 in the smallest"));
  EXPECT_FALSE(limits_say(source_of(repeated("1x2", "legacy", kSecond, 5)), "Few runs"));
}

TEST(Limits, TheControlIsMissedWhereItIsAbsentOrShowsNothing) {
  EXPECT_TRUE(limits_say(source_of(repeated("1x2", "legacy", kSecond, 1)), "There is no control"));
  auto isolated = source_of(repeated("2x2", "legacy", kSecond, 1));
  EXPECT_TRUE(limits_say(isolated, "The control showed no fault"));
  assign(isolated.runs[0], 0, pid_of(3));
  EXPECT_FALSE(limits_say(isolated, "ontrol"));
}

TEST(Limits, WhatARunWasMadeOnIsSaid) {
  auto source = source_of(repeated("1x2", "legacy", kSecond, 1));
  EXPECT_TRUE(limits_say(source, "Simulated node"));
  EXPECT_FALSE(limits_say(source, "Not checked against a launcher"));
  EXPECT_TRUE(limits_say(source, "nobody allocates memory or launches a kernel"));
  source.runs[0].record.truth = "log";
  source.runs[0].record.node = evidence::NodeKind::kUnknown;
  source.runs[0].record.imported_from = "hami-logs";
  EXPECT_FALSE(limits_say(source, "Simulated node"));
  EXPECT_TRUE(limits_say(source, "Not checked against a launcher"));
  EXPECT_TRUE(limits_say(source, "nobody watched these runs"));
  EXPECT_TRUE(limits_say(source, "The logs do not say what the workers did besides cuInit"));
  EXPECT_FALSE(limits_say(source, "nobody allocates memory"));
  source.runs[0].record.workload = evidence::Workload::kContext;
  EXPECT_FALSE(limits_say(source, "The workload is cuInit alone"));
  EXPECT_TRUE(limits_say(source, "make one context and stop"));
}

TEST(Limits, UnfinishedAndInvalidComeForward) {
  auto source = source_of(repeated("1x2", "legacy", kSecond, 2));
  EXPECT_FALSE(limits_say(source, "Unfinished"));
  EXPECT_FALSE(limits_say(source, "not valid"));
  source.finished = false;
  source.runs[1].workers[0].fate = evidence::Fate::kDied;
  EXPECT_TRUE(build_model(source).limits.at(0).starts_with("Unfinished: this report is of the 2 runs"));
  EXPECT_TRUE(limits_say(source, "1 of 2 runs not valid"));
}

TEST(Limits, NothingIsSaidOfAnEmptyExperimentButThatItIsOne) {
  const auto model = build_model({});
  EXPECT_TRUE(model.limits.empty());
  EXPECT_TRUE(model.interpretation.empty());
  EXPECT_EQ(model.findings.size(), 1U);
}

}  // namespace
}  // namespace rollcall::report
