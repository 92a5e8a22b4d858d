// Whatever the plan, the schedule runs every condition as often as it says, in
// an order that can be repeated.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "study/schedule.h"
#include "study_generators.h"

namespace rollcall::property {
namespace {

using study::make_schedule;
using study::Plan;
using study::PlannedRun;

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> result;
  for (const PlannedRun& run : make_schedule(plan)) result.push_back(run.id());
  return result;
}

TEST(Schedules, RunEveryConditionExactlySoOften) {
  EXPECT_TRUE(rc::check("each condition has repetitions 1 to runs", [] {
    const Plan plan = *any_plan();
    std::map<std::pair<Topology, std::string>, std::multiset<int>> repetitions;
    for (const PlannedRun& run : make_schedule(plan))
      repetitions[{run.topology, run.arm}].insert(run.repetition);
    std::multiset<int> all;
    for (int i = 1; i <= plan.runs; ++i) all.insert(i);
    RC_ASSERT(repetitions.size() == plan.topologies.size() * plan.arms.size());
    for (const auto& [condition, seen] : repetitions) {
      RC_ASSERT(std::count(plan.topologies.begin(), plan.topologies.end(), condition.first) == 1);
      RC_ASSERT(std::count(plan.arms.begin(), plan.arms.end(), condition.second) == 1);
      RC_ASSERT(seen == all);
    }
  }));
}

TEST(Schedules, NumberTheRunsWithoutGaps) {
  EXPECT_TRUE(rc::check("numbers are 1 to n in order", [] {
    const std::vector<PlannedRun> schedule = make_schedule(*any_plan());
    for (size_t i = 0; i < schedule.size(); ++i) RC_ASSERT(schedule[i].number == static_cast<int>(i) + 1);
  }));
}

TEST(Schedules, RepeatARepetitionOnlyAfterARoundOfAll) {
  EXPECT_TRUE(rc::check("interleaved repetitions never go back", [] {
    Plan plan = *any_plan();
    plan.order = study::Order::kInterleaved;
    int repetition = 1;
    for (const PlannedRun& run : make_schedule(plan)) {
      RC_ASSERT(run.repetition >= repetition);
      repetition = run.repetition;
    }
  }));
}

TEST(Schedules, KeepTheRepetitionsOfAConditionTogetherWhereBlocked) {
  EXPECT_TRUE(rc::check("a condition is never come back to", [] {
    Plan plan = *any_plan();
    plan.order = study::Order::kBlocked;
    std::set<std::pair<Topology, std::string>> over;
    std::pair<Topology, std::string> current;
    for (const PlannedRun& run : make_schedule(plan)) {
      if (run.repetition == 1) {
        over.insert(current);
        current = {run.topology, run.arm};
        RC_ASSERT(over.count(current) == 0U || run.number == 1);
      }
      RC_ASSERT(current == std::make_pair(run.topology, run.arm));
    }
  }));
}

TEST(Schedules, AreTheSameForTheSameSeed) {
  EXPECT_TRUE(rc::check("make_schedule is a function of its plan", [] {
    const Plan plan = *any_plan();
    RC_ASSERT(ids(plan) == ids(plan));
    const auto frozen = study::parse_plan(study::print_plan(plan), "plan.json");
    RC_ASSERT(frozen.has_value());
    RC_ASSERT(ids(*frozen) == ids(plan));
  }));
}

TEST(Schedules, GiveEveryRunANameOfItsOwn) {
  EXPECT_TRUE(rc::check("ids differ", [] {
    const std::vector<std::string> all = ids(*any_plan());
    RC_ASSERT((std::set<std::string>(all.begin(), all.end()).size() == all.size()));
  }));
}

}  // namespace
}  // namespace rollcall::property
