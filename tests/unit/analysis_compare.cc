// Two experiments, before and after: what may be compared, and what is said of it.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/compare.h"
#include "analysis/judge.h"
#include "analysis_runs.h"

namespace rollcall::analysis {
namespace {

using test::assign;
using test::good_run;
using test::kMs;
using test::pid_of;
using Values = std::vector<double>;

constexpr const char* kEnvironment =
    R"({"machine": {"cpu": "a processor", "cpus": 8, "kernel": "6.1.0"}, "rollcall_version": "0.2.0"})";

ComparedEvidence evidence_of(std::vector<evidence::Run> runs) {
  ComparedEvidence result;
  result.name = "E";
  result.runs = std::move(runs);
  result.plan_json = R"({"gpus": 1, "profile": {"name": "study", "toml": "name = 'study'"}})";
  result.environment_jsons = {kEnvironment};
  return result;
}

// One condition, a run for each wall time.
std::vector<evidence::Run> timed_runs(const std::vector<int64_t>& walls_ms,
                                      const std::string& topology = "2x2", const std::string& arm = "mine") {
  std::vector<evidence::Run> runs;
  for (const int64_t wall_ms : walls_ms) {
    const int number = static_cast<int>(runs.size()) + 1;
    runs.push_back(good_run(topology, arm, number, number));
    runs.back().record.last_gone_ns = wall_ms * kMs + *runs.back().record.collect_ns;
  }
  return runs;
}

Values around(double centre) {
  return {centre * 0.999, centre * 1.001, centre, centre * 1.0005, centre * 0.9995};
}

TEST(Judge, SameIsAnIntervalWithinTwoPercent) {
  const auto same = judge_times("span_s", around(10), around(10.05));
  EXPECT_EQ(same.verdict, Verdict::kSame) << "though the interval does not hold 1";
  EXPECT_GT(same.ci95->low, 1);
  EXPECT_NEAR(*same.ratio, 1.005, 1e-9);
  EXPECT_EQ(same.reason, UnclearReason::kNone);
  EXPECT_FALSE(same.runs_needed);
}

TEST(Judge, SlowerAndFasterAreIntervalsBeyondOne) {
  EXPECT_EQ(judge_times("span_s", around(10), around(12)).verdict, Verdict::kSlower);
  EXPECT_EQ(judge_times("span_s", around(12), around(10)).verdict, Verdict::kFaster);
  EXPECT_EQ(judge_times("span_s", around(10), around(10.25)).verdict, Verdict::kSlower) << "by 2.5 %";
}

TEST(Judge, NotSignificantIsNotTheSame) {
  const auto unclear = judge_times("span_s", {8, 9, 10, 11, 12}, {8.1, 9, 10, 11, 12.1});
  EXPECT_EQ(unclear.verdict, Verdict::kUnclear);
  EXPECT_EQ(unclear.reason, UnclearReason::kWide);
  EXPECT_LT(unclear.ci95->low, 1);
  EXPECT_GT(unclear.ci95->high, 1);
  ASSERT_TRUE(unclear.runs_needed);
  EXPECT_GT(*unclear.runs_needed, 5);
}

TEST(Judge, TheIntervalIsWelchsOnTheLogarithms) {
  const auto judged = judge_times("span_s", {std::exp(1.0), std::exp(2.0), std::exp(3.0)},
                                  {std::exp(0.0), std::exp(4.0), std::exp(2.0), std::exp(2.0)});
  // As in the tests of the ratio: variances 1/3 and 2/3, t(0.975, 4.909) = 2.584966.
  EXPECT_NEAR(*judged.ratio, 1, 1e-12);
  EXPECT_NEAR(std::log(judged.ci95->high), 2.584966, 1e-6);
}

TEST(Judge, BelowFiveRunsASideNothingIsDecided) {
  const auto few = judge_times("span_s", {10, 10.01, 10.02, 10.03}, around(20));
  EXPECT_EQ(few.verdict, Verdict::kUnclear) << "however far apart";
  EXPECT_EQ(few.reason, UnclearReason::kTooFewRuns);
  EXPECT_EQ(few.runs_needed, 5) << "five would do";
  EXPECT_TRUE(few.ci95) << "what is known is told";
  EXPECT_EQ(judge_times("span_s", {10}, {20}).runs_needed, 5) << "at least";
  EXPECT_FALSE(judge_times("span_s", {10}, {20}).ci95);
  EXPECT_EQ(judge_times("span_s", around(10), around(20)).verdict, Verdict::kSlower);
}

TEST(Judge, SoManyRunsAsAreAdvisedDecide) {
  // A sample of n values that has exactly this mean and SD of logarithms.
  const auto sample = [](int n, double mean, double sd) {
    Values values;
    const double step = sd * std::sqrt((n - 1.0) / n);
    for (int i = 0; i < n; ++i) values.push_back(std::exp(mean + (i % 2 == 0 ? step : -step)));
    return values;
  };
  for (const double effect : {0.0, 0.005, 0.015, 0.05}) {
    const auto seen = judge_times("span_s", sample(6, 0, 0.06), sample(6, effect, 0.06));
    ASSERT_EQ(seen.verdict, Verdict::kUnclear) << effect;
    ASSERT_TRUE(seen.runs_needed) << effect;
    const int n = *seen.runs_needed + *seen.runs_needed % 2;
    EXPECT_NE(judge_times("span_s", sample(n, 0, 0.06), sample(n, effect, 0.06)).verdict, Verdict::kUnclear)
        << effect << " with " << n;
    const int fewer = 2 * (*seen.runs_needed * 8 / 20);
    EXPECT_EQ(judge_times("span_s", sample(fewer, 0, 0.06), sample(fewer, effect, 0.06)).verdict,
              Verdict::kUnclear)
        << effect << " with " << fewer;
  }
}

TEST(Judge, WhatCannotBeJudgedSaysWhy) {
  EXPECT_EQ(judge_times("span_s", {}, around(1)).reason, UnclearReason::kNoValue);
  EXPECT_EQ(judge_times("span_s", {0, 1, 2, 3, 4}, around(1)).reason, UnclearReason::kNoLogarithm);
  EXPECT_EQ(judge_times("span_s", {1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}).reason, UnclearReason::kNoScatter);
  EXPECT_EQ(judge_times("span_s", {1, 1, 1, 1, 1}, around(2)).verdict, Verdict::kSlower)
      << "the scatter of one side is enough";
}

TEST(JudgeShares, AreDifferencesOfTheRunsShares) {
  const auto fewer = judge_shares(Class::kPeer, {.9, .95, .92, .93, .9}, {0, 0, 0.01, 0, 0});
  EXPECT_EQ(fewer.verdict, Verdict::kFewer);
  EXPECT_NEAR(*fewer.difference, -0.918, 1e-12);
  EXPECT_EQ(judge_shares(Class::kSelf, {0, 0, 0.01, 0, 0}, {.9, .95, .92, .93, .9}).verdict, Verdict::kMore);
  EXPECT_EQ(judge_shares(Class::kPeer, {.90, .901, .9, .902, .9}, {.9, .9, .9, .905, .9}).verdict,
            Verdict::kSame);
  EXPECT_EQ(judge_shares(Class::kPeer, {.5, .7, .9, .6, .8}, {.55, .7, .9, .6, .8}).verdict,
            Verdict::kUnclear);
}

TEST(JudgeShares, WithoutScatterFiveAgainstFiveIsEnough) {
  EXPECT_EQ(judge_shares(Class::kPeer, Values(5, 0), Values(5, 0)).verdict, Verdict::kSame);
  EXPECT_EQ(judge_shares(Class::kPeer, Values(5, 0), Values(5, 1)).verdict, Verdict::kMore);
  EXPECT_EQ(judge_shares(Class::kPeer, Values(4, 0), Values(5, 1)).verdict, Verdict::kUnclear);
  EXPECT_EQ(judge_shares(Class::kPeer, Values(3, 0), Values(3, 0)).reason, UnclearReason::kTooFewRuns);
}

TEST(JudgeShares, AClassOfOneSideAloneIsNeverTheSame) {
  const auto rare = judge_shares(Class::kPeer, Values(5, 0), {0, 0, 0.004, 0, 0});
  EXPECT_EQ(rare.verdict, Verdict::kUnclear) << "though within two points";
  EXPECT_EQ(judge_shares(Class::kPeer, Values(5, 0), Values(5, 0.004)).verdict, Verdict::kMore);
}

TEST(Compare, MatchesTheSameConditions) {
  auto a = timed_runs({10'000, 10'010, 10'020, 10'030, 10'040});
  auto b = timed_runs({12'000, 12'010, 12'020, 12'030, 12'040});
  a.push_back(good_run("1x4", "mine", 9));
  b.push_back(good_run("4x1", "mine", 9));
  auto held = good_run("2x2", "mine", 10);
  held.record.hold = evidence::Hold::kAll;
  b.push_back(held);
  const Comparison comparison = compare(evidence_of(a), evidence_of(b), {});
  ASSERT_EQ(comparison.conditions.size(), 1U);
  const ConditionComparison& c = comparison.conditions[0];
  EXPECT_EQ(c.a.topology.text(), "2x2");
  EXPECT_EQ(c.valid_a, 5);
  ASSERT_EQ(c.measures.size(), 5U) << "no first context without contexts";
  EXPECT_EQ(c.measures[1].measure, "external_wall_s");
  EXPECT_EQ(c.measures[1].verdict, Verdict::kSlower);
  EXPECT_NEAR(*c.measures[1].ratio, 12.02 / 10.02, 1e-4) << "B over A";
  EXPECT_EQ(c.classes.size(), 5U);
  ASSERT_EQ(comparison.only_in_a.size(), 1U);
  EXPECT_EQ(comparison.only_in_a[0].topology.text(), "1x4");
  ASSERT_EQ(comparison.only_in_b.size(), 2U) << "another hold is another condition";
  EXPECT_TRUE(comparison.complete());
}

TEST(Compare, AWorkloadThatMayDifferIsMatchedWithTheOnlyOther) {
  auto b = timed_runs({10'000, 10'010});
  for (auto& run : b) {
    run.record.workload = evidence::Workload::kContext;
    for (auto& worker : run.workers) worker.context_result = 0, worker.context_ns = kMs;
  }
  const auto a = timed_runs({10'000, 10'010});
  EXPECT_TRUE(compare(evidence_of(a), evidence_of(b), {}).conditions.empty());
  const Comparison comparison = compare(evidence_of(a), evidence_of(b), {"workload"});
  ASSERT_EQ(comparison.conditions.size(), 1U);
  EXPECT_EQ(comparison.conditions[0].b.workload, evidence::Workload::kContext);
  ASSERT_EQ(comparison.allowed.size(), 1U);
  EXPECT_EQ(comparison.allowed[0].field, "workload");
  auto both = b;
  both.push_back(good_run("2x2", "mine", 7));
  both.back().record.hold = evidence::Hold::kAll;
  EXPECT_TRUE(compare(evidence_of(a), evidence_of(both), {"workload", "hold"}).conditions.empty())
      << "of two nobody knows which is meant";
}

TEST(Compare, InvalidRunsAreInNoNumberButTheirWrongIdentitiesCount) {
  auto b = timed_runs({10'000, 10'010, 10'020});
  assign(b[2], 0, pid_of(1));
  b[2].workers[3].fate = evidence::Fate::kDied;
  const Comparison comparison = compare(evidence_of(timed_runs({10'000, 10'010})), evidence_of(b), {});
  const ConditionComparison& c = comparison.conditions.at(0);
  EXPECT_EQ(c.valid_b, 2);
  EXPECT_EQ(c.invalid_b, 1);
  EXPECT_EQ(c.measures[1].b.n, 2);
  EXPECT_EQ(c.classes[1].count_b, 0);
  EXPECT_EQ(c.wrong_a.wrong, 0);
  EXPECT_EQ(c.wrong_b.wrong, 1);
  EXPECT_EQ(c.wrong_b.workers, 12);
}

TEST(Compare, IsNotCompleteWhereASideHasNoValidRun) {
  auto b = timed_runs({10'000});
  b[0].workers[0].fate = evidence::Fate::kDied;
  const Comparison comparison = compare(evidence_of(timed_runs({10'000})), evidence_of(b), {});
  ASSERT_EQ(comparison.conditions.size(), 1U);
  EXPECT_FALSE(comparison.conditions[0].comparable());
  EXPECT_TRUE(comparison.conditions[0].measures.empty());
  EXPECT_FALSE(comparison.complete());
  EXPECT_FALSE(
      compare(evidence_of(timed_runs({10'000})), evidence_of(timed_runs({10'000}, "4x1")), {}).complete())
      << "nothing in common";
}

std::vector<std::string> differing(const ComparedEvidence& a, const ComparedEvidence& b) {
  std::vector<std::string> fields;
  for (const auto& difference : compare_environments(a, b).differences) fields.push_back(difference.field);
  return fields;
}

using Fields = std::vector<std::string>;

TEST(Environments, OfTheSameExperimentDoNotDiffer) {
  const auto a = evidence_of({good_run("1x2", "mine")});
  EXPECT_EQ(differing(a, a), Fields{});
  EXPECT_TRUE(compare_environments(a, a).not_known.empty());
}

TEST(Environments, EveryFieldIsSeen) {
  const auto base = evidence_of({good_run("1x2", "mine")});
  const auto with = [&](auto change) {
    auto other = base;
    change(other, other.runs[0].record);
    return differing(base, other);
  };
  using E = ComparedEvidence;
  using R = evidence::RunRecord;
  EXPECT_EQ(with([](E&, R& r) { r.view = evidence::NvmlView::kTranslated; }), Fields{"view"});
  EXPECT_EQ(with([](E&, R& r) { r.profile = "h200"; }), Fields{"profile"});
  EXPECT_EQ(with([](E& e, R&) { e.plan_json = R"({"gpus": 1, "profile": {"toml": "name = 'x'"}})"; }),
            Fields{"profile"})
      << "of the same name, but it says something else";
  EXPECT_EQ(with([](E&, R& r) { r.time_scale = 0.06; }), Fields{"time_scale"});
  EXPECT_EQ(with([](E& e, R&) { e.plan_json = R"({"gpus": 2, "profile": {"toml": "name = 'study'"}})"; }),
            Fields{"gpus"});
  EXPECT_EQ(with([](E&, R& r) { r.isolation = evidence::Isolation::kPid; }), Fields{"isolation"});
  EXPECT_EQ(with([](E&, R& r) { r.broker = true; }), Fields{"broker"});
  EXPECT_EQ(with([](E&, R& r) { r.workload = evidence::Workload::kContext; }), Fields{"workload"});
  EXPECT_EQ(with([](E&, R& r) { r.hold = evidence::Hold::kAll; }), Fields{"hold"});
  EXPECT_EQ(with([](E&, R& r) { r.neighbours = 3; }), Fields{"neighbours"});
  EXPECT_EQ(with([](E&, R& r) { r.devices = {"1"}; }), Fields{"devices"});
  EXPECT_EQ(with([](E&, R& r) { r.truth = "log"; }), Fields{"truth"});
  EXPECT_EQ(with([](E& e, R&) {
              e.environment_jsons = {R"({"machine": {"cpu": "another", "cpus": 8, "kernel": "6.1.0"}})"};
            }),
            Fields{"cpu"});
  EXPECT_EQ(with([](E& e, R&) {
              e.environment_jsons.push_back(
                  R"({"machine": {"cpu": "a processor", "cpus": 16, "kernel": "6.2.0"}})");
            }),
            (Fields{"cpus", "kernel"}))
      << "resumed on another machine";
}

TEST(Environments, OfARealNodeTheGpuAndTheDriverCount) {
  auto a = evidence_of({good_run("1x2", "mine")});
  auto& record = a.runs[0].record;
  record.node = evidence::NodeKind::kReal;
  record.device_name = "NVIDIA H200";
  record.driver_version = "580.1";
  record.profile.clear();
  record.time_scale.reset();
  auto b = a;
  EXPECT_TRUE(differing(a, b).empty());
  b.runs[0].record.device_name = "NVIDIA L4";
  EXPECT_EQ(differing(a, b), Fields{"gpu"});
  b = a;
  b.runs[0].record.driver_version = "590.2";
  EXPECT_EQ(differing(a, b), Fields{"driver"});
  b.runs[0].record.driver_version.clear();
  const auto compared = compare_environments(a, b);
  ASSERT_EQ(compared.differences.size(), 1U) << "missing on one side is a difference";
  EXPECT_EQ(compared.differences[0].b, "not known");
  EXPECT_EQ(differing(evidence_of({good_run("1x2", "mine")}), a),
            (Fields{"node", "gpu", "driver", "profile", "time_scale", "gpus"}));
}

TEST(Environments, WhatNeitherSideRecordsIsNamed) {
  auto a = evidence_of({good_run("1x2", "mine")});
  a.environment_jsons.clear();
  const auto compared = compare_environments(a, a);
  EXPECT_TRUE(compared.differences.empty());
  EXPECT_EQ(compared.not_known, (Fields{"cpu", "cpus", "kernel"}));
  auto b = a;
  b.environment_jsons = {kEnvironment};
  EXPECT_EQ(differing(a, b), (Fields{"cpu", "cpus", "kernel"}));
  b.environment_jsons = {"{not json"};
  EXPECT_TRUE(differing(a, b).empty()) << "what cannot be read says nothing";
}

TEST(Environments, AreRefusedWithEveryDifferenceAndTheWayToAllowIt) {
  auto a = evidence_of({good_run("1x2", "mine")});
  auto b = a;
  b.runs[0].record.time_scale = 0.5;
  b.runs[0].record.neighbours = 2;
  const auto compared = compare_environments(a, b);
  const auto refused = check_comparable(compared, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(
      refused.error().line(),
      "the environments differ: time_scale: A has 0.05, B has 0.5; neighbours: A has 0, B has 2; to compare "
      "all the same: --allow time_scale --allow neighbours");
  const auto still = check_comparable(compared, {"neighbours"});
  ASSERT_FALSE(still);
  EXPECT_EQ(still.error().line().find("neighbours"), std::string::npos);
  EXPECT_TRUE(check_comparable(compared, {"neighbours", "time_scale"}));
}

TEST(Environments, AFieldThatDoesNotExistCannotBeAllowed) {
  EXPECT_TRUE(parse_allowed(environment_fields()));
  EXPECT_EQ(parse_allowed({"drivr"}).error().line(),
            "--allow: unknown field 'drivr'; did you mean 'driver'?");
  EXPECT_NE(parse_allowed({"xyzzyx"}).error().line().find("expected one of node, gpu, driver"),
            std::string::npos);
}

TEST(Compare, ValidRunsThatMeasuredNothingAreNoComparison) {
  ConditionComparison condition;
  condition.valid_a = condition.valid_b = 3;
  Comparison comparison;
  comparison.conditions = {condition};
  EXPECT_FALSE(comparison.complete());
  comparison.conditions[0].measures.emplace_back();
  EXPECT_TRUE(comparison.complete());
}

}  // namespace
}  // namespace rollcall::analysis
