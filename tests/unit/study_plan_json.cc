// The frozen plan: the same plan is always the same bytes, and nothing but what
// this version wrote is read as one.
#include <gtest/gtest.h>

#include "study/plan.h"

namespace rollcall::study {
namespace {

Plan some_plan() {
  PlanRequest request;
  request.topologies = {"1x4", "2x2"};
  request.seed = INT64_MAX;
  const auto plan = resolve_plan(request, TEST_PROFILE_DIR);
  EXPECT_TRUE(plan);
  return *plan;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(PlanJson, IsReadBackAsItWas) {
  const Plan plan = some_plan();
  const auto back = parse_plan(print_plan(plan), "plan.json");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(*back, plan);
}

TEST(PlanJson, TheSamePlanIsTheSameBytes) {
  const std::string text = print_plan(some_plan());
  EXPECT_EQ(print_plan(some_plan()), text);
  EXPECT_EQ(print_plan(*parse_plan(text, "plan.json")), text);
  EXPECT_EQ(text.back(), '\n');
}

TEST(PlanJson, EveryWordIsReadBack) {
  Plan plan = some_plan();
  plan.workload = evidence::Workload::kContext;
  plan.hold = evidence::Hold::kAll;
  plan.view = evidence::NvmlView::kTranslated;
  plan.order = Order::kBlocked;
  plan.isolation = evidence::Isolation::kPid;
  plan.broker = true;
  plan.gpus = 3;
  EXPECT_EQ(*parse_plan(print_plan(plan), "plan.json"), plan);
}

TEST(PlanJson, WhatThisVersionDidNotWriteIsAnErrorWithItsFile) {
  const std::string good = print_plan(some_plan());
  const std::vector<std::string> bad = {
      "",
      "{",
      "[]",
      "{}",
      "null",
      replaced(good, "\"format\": 1", "\"format\": 2"),
      replaced(good, "\"1x4\"", "\"0x4\""),
      replaced(good, "\"1x4\"", "14"),
      replaced(good, "\"interleaved\"", "\"sorted\""),
      replaced(good, "\"init\"", "\"initt\""),
      replaced(good, "\"runs\": 3", "\"runs\": \"3\""),
      replaced(good, "\"runs\": 3", "\"rnus\": 3"),
      good.substr(0, good.size() / 2),
  };
  for (const std::string& text : bad) {
    const auto plan = parse_plan(text, "E/plan.json");
    ASSERT_FALSE(plan) << text;
    EXPECT_TRUE(plan.error().line().starts_with("E/plan.json: not a plan that this version wrote")) << text;
  }
}

}  // namespace
}  // namespace rollcall::study
