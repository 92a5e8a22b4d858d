// The order of the runs.
#include <gtest/gtest.h>

#include <set>

#include "study/schedule.h"

namespace rollcall::study {
namespace {

Plan plan(Order order, uint64_t seed) {
  Plan result;
  for (const char* text : {"1x4", "2x2"}) result.topologies.push_back(*evidence::Topology::parse(text));
  result.arms = {"native", "legacy"};
  result.runs = 3;
  result.order = order;
  result.seed = seed;
  return result;
}

std::vector<std::string> ids(const Plan& of) {
  std::vector<std::string> result;
  for (const PlannedRun& run : make_schedule(of)) result.push_back(run.id());
  return result;
}

TEST(Schedule, BlockedFollowsThePlanConditionByCondition) {
  EXPECT_EQ(ids(plan(Order::kBlocked, 1)),
            (std::vector<std::string>{"001-1x4-native-r1", "002-1x4-native-r2", "003-1x4-native-r3",
                                      "004-1x4-legacy-r1", "005-1x4-legacy-r2", "006-1x4-legacy-r3",
                                      "007-2x2-native-r1", "008-2x2-native-r2", "009-2x2-native-r3",
                                      "010-2x2-legacy-r1", "011-2x2-legacy-r2", "012-2x2-legacy-r3"}));
}

TEST(Schedule, BlockedDoesNotDependOnTheSeed) {
  EXPECT_EQ(ids(plan(Order::kBlocked, 1)), ids(plan(Order::kBlocked, 99)));
}

TEST(Schedule, InterleavedGoesThroughAllConditionsBeforeAnyIsRepeated) {
  const auto schedule = make_schedule(plan(Order::kInterleaved, 5));
  ASSERT_EQ(schedule.size(), 12U);
  for (size_t i = 0; i < schedule.size(); ++i) EXPECT_EQ(schedule[i].repetition, static_cast<int>(i / 4) + 1);
}

TEST(Schedule, ASeedGivesTheSameOrderOnEveryMachine) {
  // Written down once; std::mt19937_64 and the shuffle are both fixed.
  std::vector<std::string> first_round = ids(plan(Order::kInterleaved, 1));
  first_round.resize(4);
  EXPECT_EQ(first_round, (std::vector<std::string>{"001-1x4-legacy-r1", "002-2x2-native-r1",
                                                   "003-2x2-legacy-r1", "004-1x4-native-r1"}));
}

TEST(Schedule, DifferentSeedsGiveDifferentOrders) {
  std::set<std::vector<std::string>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) orders.insert(ids(plan(Order::kInterleaved, seed)));
  EXPECT_GT(orders.size(), 15U);  // of 24 to the third
}

TEST(Schedule, RoundsOfOneExperimentDifferToo) {
  Plan many = plan(Order::kInterleaved, 1);
  many.runs = 20;
  const auto schedule = make_schedule(many);
  int different = 0;
  for (size_t i = 4; i < schedule.size(); ++i) {
    different += schedule[i].arm != schedule[i - 4].arm || schedule[i].topology != schedule[i - 4].topology;
  }
  EXPECT_GT(different, 20);
}

}  // namespace
}  // namespace rollcall::study
