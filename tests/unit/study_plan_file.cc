// Plan files: what they can say, and that an error names its line and what was
// probably meant.
#include <gtest/gtest.h>

#include "study/plan.h"

namespace rollcall::study {
namespace {

using Strings = std::vector<std::string>;

base::Result<PlanRequest> parse(const std::string& toml) {
  return parse_plan_file(toml, "plan.toml");
}

// The one line of the error; empty if it was accepted or is not the user's fault.
std::string refusal(const std::string& toml) {
  const auto request = parse(toml);
  return !request && request.error().kind == base::ErrorKind::kUsage ? request.error().line() : "";
}

#define EXPECT_SAYS(line, words) EXPECT_NE((line).find(words), std::string::npos) << "said: " << (line)

TEST(PlanFile, SaysEverythingThatAnOptionCan) {
  const auto request = parse(R"(
[study]
topologies = ["1x4", "4x1"]
arms = ["native", "legacy"]
runs = 2
node = "sim"
profile = "instant"
time_scale = 0.25
workload = "context"
hold = "all"
isolate = "pid"
broker = true
view = "global"
order = "blocked"
seed = 11
gpus = 2
worker_timeout = 30
run_timeout = 60.5
)");
  ASSERT_TRUE(request) << request.error().line();
  EXPECT_EQ(request->topologies, (Strings{"1x4", "4x1"}));
  EXPECT_EQ(request->arms, (Strings{"native", "legacy"}));
  EXPECT_EQ(request->runs, 2);
  EXPECT_EQ(request->node, "sim");
  EXPECT_EQ(request->profile, "instant");
  EXPECT_EQ(request->time_scale, 0.25);
  EXPECT_EQ(request->workload, "context");
  EXPECT_EQ(request->hold, "all");
  EXPECT_EQ(request->isolate, "pid");
  EXPECT_EQ(request->broker, true);
  EXPECT_EQ(request->view, "global");
  EXPECT_EQ(request->order, "blocked");
  EXPECT_EQ(request->seed, 11);
  EXPECT_EQ(request->gpus, 2);
  EXPECT_EQ(request->worker_timeout_s, 30.0);
  EXPECT_EQ(request->run_timeout_s, 60.5);
}

TEST(PlanFile, WhatItDoesNotSayIsUnset) {
  const auto request = parse("[study]\n");
  ASSERT_TRUE(request) << request.error().line();
  EXPECT_FALSE(request->topologies || request->arms || request->runs || request->time_scale || request->seed);
}

TEST(PlanFile, AHyphenIsAsGoodAsAnUnderscore) {
  const auto request = parse("[study]\ntime-scale = 2\nworker-timeout = 5\n");
  ASSERT_TRUE(request) << request.error().line();
  EXPECT_EQ(request->time_scale, 2.0);
  EXPECT_EQ(request->worker_timeout_s, 5.0);
}

TEST(PlanFile, UnknownKeyNamesLineAndNearest) {
  const std::string line = refusal("[study]\nruns = 2\ntopologie = [\"1x1\"]\n");
  EXPECT_TRUE(line.starts_with("plan.toml:3:1: ")) << line;
  EXPECT_SAYS(line, "unknown key 'topologie'");
  EXPECT_SAYS(line, "did you mean 'topologies'?");
}

TEST(PlanFile, AValueOfTheWrongTypeNamesLineAndWhatIsExpected) {
  EXPECT_SAYS(refusal("[study]\nruns = \"2\"\n"), "plan.toml:2:8: 'runs' must be a whole number");
  EXPECT_SAYS(refusal("[study]\nruns = 2.0\n"), "'runs' must be a whole number");
  EXPECT_SAYS(refusal("[study]\nbroker = 1\n"), "'broker' must be true or false");
  EXPECT_SAYS(refusal("[study]\nnode = 1\n"), "'node' must be a string");
  EXPECT_SAYS(refusal("[study]\ntime_scale = \"fast\"\n"), "'time_scale' must be a number");
  EXPECT_SAYS(refusal("[study]\narms = \"native\"\n"), "'arms' must be a list of strings");
  EXPECT_SAYS(refusal("[study]\narms = [\"native\", 1]\n"), "'arms' must be a list of strings");
}

TEST(PlanFile, WhatIsNoTomlNamesLineAndColumn) {
  const std::string line = refusal("[study]\nruns = = 2\n");
  EXPECT_TRUE(line.starts_with("plan.toml:2:")) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(PlanFile, AKeyGivenTwiceIsAnError) {
  EXPECT_SAYS(refusal("[study]\nruns = 1\nruns = 2\n"), "plan.toml:3:");
}

TEST(PlanFile, LettersOfAnyLanguageInTheWrongPlaceAreErrors) {
  EXPECT_SAYS(refusal("[study]\nruns = \u00e9\n"), "plan.toml:2:");
  EXPECT_SAYS(refusal("[study]\n\u00e9 = 1\n"), "plan.toml:2:");
  EXPECT_SAYS(refusal("[study]\nruns.= 1\n"), "plan.toml:2:");
}

TEST(PlanFile, OnlyTheStudyAndArmTablesExist) {
  const std::string line = refusal("[stduy]\nruns = 1\n");
  EXPECT_TRUE(line.starts_with("plan.toml:1:")) << line;
  EXPECT_SAYS(line, "did you mean 'study'?");
  EXPECT_SAYS(refusal("runs = 1\n[study]\n"), "plan.toml:1:1: 'runs' stands outside [study]");
  EXPECT_SAYS(refusal("study = 3\n"), "write [study]");
}

TEST(PlanFile, AnArmOfItsOwnIsReadWithItsPlaces) {
  const auto request = parse_plan_file(
      "[study]\n[arm.mine]\npreload = \"x.so\"\ncache-env = \"C\"\nidentity = \"log\"\n"
      "identity_kind = \"host\"\nlog_assigned = \"a\"\nlog_failed = \"f\"\nenv = { A = \"1\", B = \"2\" }\n",
      "plans/mine.toml");
  ASSERT_TRUE(request) << request.error().line();
  ASSERT_EQ(request->defined_arms.size(), 1U);
  const ArmRequest& arm = request->defined_arms.front();
  EXPECT_EQ(arm.name, "mine");
  EXPECT_EQ(arm.folder, "plans");
  EXPECT_EQ(arm.preload, "x.so");
  EXPECT_EQ(arm.cache_env, "C");
  EXPECT_EQ(arm.identity, "log");
  EXPECT_EQ(arm.identity_kind, "host");
  EXPECT_EQ(arm.log_assigned, "a");
  EXPECT_EQ(arm.log_failed, "f");
  EXPECT_EQ(arm.environment, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(arm.place("preload"), "plans/mine.toml:3:11");
  EXPECT_EQ(arm.place("env.B").substr(0, 17), "plans/mine.toml:9");
  EXPECT_EQ(arm.place("nothing of that"), "plans/mine.toml:2:6");
}

TEST(PlanFile, AnArmWithAWrongKeyOrValueNamesItsPlace) {
  EXPECT_SAYS(refusal("[study]\n[arm.mine]\npreloda = \"x\"\n"), "plan.toml:3:1: unknown key");
  EXPECT_SAYS(refusal("[study]\n[arm.mine]\npreloda = \"x\"\n"), "did you mean 'preload'?");
  EXPECT_SAYS(refusal("[study]\n[arm.mine]\npreload = 1\n"), "plan.toml:3:11: 'preload' must be a string");
  EXPECT_SAYS(refusal("[study]\n[arm.mine]\nenv = 1\n"), "'env' must be a table of strings");
  EXPECT_SAYS(refusal("[study]\n[arm.mine]\nenv = { A = 1 }\n"), "the variable 'A' must be a string");
  EXPECT_SAYS(refusal("[study]\n[arm]\npreload = \"x\"\n"), "put it under a line that says [arm.NAME]");
  EXPECT_SAYS(refusal("arm = 1\n[study]\n"), "write [arm.NAME]");
}

TEST(PlanFile, AnEmptyFileIsNoPlan) {
  EXPECT_SAYS(refusal(""), "plan.toml: no [study] table");
}

}  // namespace
}  // namespace rollcall::study
