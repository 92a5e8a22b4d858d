// What an experiment showed: conditions over their valid runs, ratios, and
// whether the control could see the fault.
#include <gtest/gtest.h>

#include "analysis/statistics.h"
#include "analysis/summary.h"
#include "analysis_runs.h"

namespace rollcall::analysis {
namespace {

using evidence::Fate;
using test::assign;
using test::good_run;
using test::kSecond;
using test::pid_of;

evidence::Run timed(evidence::Run run, int64_t wall_s) {
  run.record.last_gone_ns = (wall_s + 2) * kSecond;
  return run;
}

evidence::Run with_peer(evidence::Run run) {
  assign(run, 0, pid_of(1));
  return run;
}

evidence::Run broken(evidence::Run run) {
  run.workers[0].fate = Fate::kDied;
  return run;
}

TEST(Percentile, IsNearestRank) {
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 5), 15);
  EXPECT_EQ(percentile({50, 40, 35, 20, 15}, 30), 20);
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 40), 20);
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 50), 35);
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 100), 50);
  EXPECT_FALSE(percentile({}, 50));
}

TEST(Percentile, IsNotBiasedByBinaryFractions) {
  std::vector<double> values;
  std::vector<int64_t> integers;
  for (int i = 1; i <= 1000; ++i) values.push_back(i);
  for (int i = 1; i <= 100; ++i) integers.push_back(i);
  EXPECT_EQ(percentile(values, 7), 70);
  EXPECT_EQ(percentile(values, 99.9), 999);
  for (int p = 1; p <= 100; ++p) EXPECT_EQ(percentile_ns(integers, p), p);
}

TEST(Percentile, OfFewValuesIsOneOfThem) {
  EXPECT_EQ(percentile_ns({8}, 1), 8);
  EXPECT_EQ(percentile_ns({8, 9}, 50), 8);
  EXPECT_EQ(percentile_ns({8, 9}, 51), 9);
  EXPECT_FALSE(percentile_ns({}, 50));
}

TEST(MeanSd, IsTheSampleDeviationAndUnsetBelowTwo) {
  EXPECT_FALSE(mean_sd({}).mean);
  EXPECT_EQ(mean_sd({3}).mean, 3);
  EXPECT_FALSE(mean_sd({3}).sd);
  const MeanSd three = mean_sd({1, 2, 3});
  EXPECT_EQ(three.n, 3);
  EXPECT_DOUBLE_EQ(*three.mean, 2);
  EXPECT_DOUBLE_EQ(*three.sd, 1);
}

TEST(Summary, TheOrderOfConditionsDoesNotDependOnTheOrderOfRuns) {
  const auto summary = summarise({good_run("50x5", "legacy", 3), good_run("1x250", "legacy", 2),
                                  good_run("1x250", "native", 4), good_run("50x5", "native", 1),
                                  good_run("1x250", "legacy", 5, 2)});
  ASSERT_EQ(summary.conditions.size(), 4U);
  EXPECT_EQ(summary.conditions[0].topology.text(), "1x250");
  EXPECT_EQ(summary.conditions[0].arm, "native");
  EXPECT_EQ(summary.conditions[1].topology.text(), "1x250");
  EXPECT_EQ(summary.conditions[1].arm, "legacy");
  EXPECT_EQ(summary.conditions[1].valid_runs, 2);
  EXPECT_EQ(summary.conditions[1].workers, 500);
  EXPECT_EQ(summary.conditions[2].topology.text(), "50x5");
  EXPECT_EQ(summary.conditions[2].arm, "native");
  EXPECT_EQ(summary.conditions[3].arm, "legacy");
  EXPECT_EQ(summary.runs, 5);
}

TEST(Summary, RatiosAreOfMeanWallTimesWithinOneTopology) {
  const auto summary =
      summarise({timed(good_run("1x2", "native", 1), 10), timed(good_run("1x2", "native", 2, 2), 14),
                 timed(good_run("1x2", "legacy", 3), 60), timed(good_run("2x1", "legacy", 4), 60)});
  EXPECT_FALSE(summary.conditions[0].ratio_to_native.value) << "native itself";
  EXPECT_DOUBLE_EQ(*summary.conditions[1].ratio_to_native.value, 5);
  EXPECT_FALSE(summary.conditions[2].ratio_to_native.value) << "no native run of this topology";
  EXPECT_DOUBLE_EQ(*summary.conditions[0].external_wall_s.mean, 12);
}

TEST(Summary, InvalidRunsCountNowhereButAreNamed) {
  const auto summary = summarise({timed(good_run("2x2", "legacy", 1), 10),
                                  broken(timed(with_peer(good_run("2x2", "legacy", 2, 2)), 99))});
  ASSERT_EQ(summary.conditions.size(), 1U);
  const Condition& condition = summary.conditions[0];
  EXPECT_EQ(condition.valid_runs, 1);
  EXPECT_EQ(condition.invalid_runs, 1);
  EXPECT_EQ(condition.workers, 4);
  EXPECT_EQ(condition.classes.of(Class::kSelf), 4);
  EXPECT_EQ(condition.external_wall_s.n, 1);
  EXPECT_EQ(summary.control, Control::kNotVisible) << "a peer in an invalid run proves nothing";
  ASSERT_EQ(summary.invalid.size(), 1U);
  EXPECT_EQ(summary.invalid[0].first, "002-2x2-legacy-r2");
  EXPECT_EQ(summary.invalid[0].second, std::vector<std::string>{"worker_died"});
}

TEST(Summary, AConditionWithoutAnyValidRunStillAppears) {
  const auto summary = summarise({broken(good_run("1x2", "legacy"))});
  ASSERT_EQ(summary.conditions.size(), 1U);
  EXPECT_EQ(summary.conditions[0].valid_runs, 0);
  EXPECT_EQ(summary.conditions[0].classes.total(), 0);
  EXPECT_FALSE(summary.conditions[0].external_wall_s.mean);
  EXPECT_FALSE(summary.conditions[0].ratio_to_native.value);
}

TEST(Control, IsVisibleWhereIsolatedLegacyWorkersHoldPeers) {
  EXPECT_EQ(summarise({with_peer(good_run("2x2", "legacy"))}).control, Control::kVisible);
}

TEST(Control, IsNotVisibleWhereTheyAreAllRight) {
  EXPECT_EQ(summarise({good_run("2x2", "legacy")}).control, Control::kNotVisible);
}

TEST(Control, OneShowingTopologyIsEnough) {
  EXPECT_EQ(summarise({with_peer(good_run("2x2", "legacy", 1)), good_run("4x1", "legacy", 2)}).control,
            Control::kVisible);
}

TEST(Control, IsAbsentWithoutAValidIsolatedLegacyRun) {
  EXPECT_EQ(summarise({}).control, Control::kAbsent);
  EXPECT_EQ(summarise({with_peer(good_run("1x4", "legacy"))}).control, Control::kAbsent)
      << "one shared cache";
  EXPECT_EQ(summarise({with_peer(good_run("2x2", "mine"))}).control, Control::kAbsent) << "another arm";
  EXPECT_EQ(summarise({broken(with_peer(good_run("2x2", "legacy")))}).control, Control::kAbsent);
}

TEST(Occurred, LegacyIsOnlyTheControlWhereThereAreOtherShims) {
  const std::set<Class> peer = {Class::kPeer};
  const auto legacy = with_peer(good_run("2x2", "legacy", 1));
  EXPECT_EQ(occurred({legacy}, peer), peer);
  EXPECT_EQ(occurred({legacy, good_run("2x2", "native", 2)}, peer), peer);
  EXPECT_EQ(occurred({legacy, good_run("2x2", "mine", 2)}, peer), std::set<Class>{});
  EXPECT_EQ(occurred({legacy, with_peer(good_run("2x2", "mine", 2))}, peer), peer);
  EXPECT_EQ(occurred({legacy, broken(good_run("2x2", "mine", 2))}, peer), std::set<Class>{});
}

TEST(Occurred, NamesOnlyWhatWasAskedFor) {
  const auto run = with_peer(good_run("2x2", "mine"));
  EXPECT_EQ(occurred({run}, {Class::kExternal}), std::set<Class>{});
  EXPECT_EQ(occurred({run}, {Class::kExternal, Class::kPeer, Class::kSelf}),
            (std::set<Class>{Class::kPeer, Class::kSelf}));
}

TEST(Occurred, AWrongIdentityInAnInvalidRunIsStillWrong) {
  const auto run = broken(with_peer(good_run("2x2", "mine")));
  EXPECT_EQ(occurred({run}, {Class::kPeer}), std::set<Class>{Class::kPeer});
}

}  // namespace
}  // namespace rollcall::analysis
