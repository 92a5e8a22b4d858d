// From what was asked for to the plan: the defaults, every check, and what each
// refusal says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evidence_temporary_folder.h"
#include "study/plan.h"

namespace rollcall::study {
namespace {

using testing::AssertionResult;
using Strings = std::vector<std::string>;

// A request that says one thing.
template <typename Value, typename Said>
PlanRequest with(std::optional<Value> PlanRequest::*member, const Said& said) {
  PlanRequest request;
  request.*member = said;
  return request;
}

base::Result<Plan> resolve(const PlanRequest& request) {
  return resolve_plan(request, TEST_PROFILE_DIR);
}

// Whether it is refused as wrong usage, naming the option and all of `words`.
AssertionResult refused(const PlanRequest& request, const std::string& option, const Strings& words = {}) {
  const auto plan = resolve(request);
  if (plan) return testing::AssertionFailure() << "accepted";
  const std::string line = plan.error().line();
  if (plan.error().kind != base::ErrorKind::kUsage)
    return testing::AssertionFailure() << "not a usage error: " << line;
  if (!line.starts_with(option))
    return testing::AssertionFailure() << "does not name " << option << ": " << line;
  for (const std::string& word : words) {
    if (line.find(word) == std::string::npos)
      return testing::AssertionFailure() << "no '" << word << "': " << line;
  }
  return testing::AssertionSuccess();
}

TEST(Plan, WithoutAWordItIsTheStudy) {
  const auto plan = resolve({});
  ASSERT_TRUE(plan) << plan.error().line();
  ASSERT_EQ(plan->topologies.size(), 2U);
  EXPECT_EQ(plan->topologies[0].text(), "1x250");
  EXPECT_EQ(plan->topologies[1].text(), "50x5");
  EXPECT_EQ(plan->arms, (Strings{"native", "legacy", "tiered"}));
  EXPECT_EQ(plan->runs, 3);
  EXPECT_EQ(plan->node, evidence::NodeKind::kSimulated);
  EXPECT_EQ(plan->profile_name, "study");
  EXPECT_NE(plan->profile_toml.find("name = \"study\""), std::string::npos);
  EXPECT_EQ(plan->workload, evidence::Workload::kInit);
  EXPECT_EQ(plan->hold, evidence::Hold::kNone);
  EXPECT_EQ(plan->isolation, evidence::Isolation::kNone);
  EXPECT_FALSE(plan->broker);
  EXPECT_EQ(plan->view, evidence::NvmlView::kGlobal);
  EXPECT_EQ(plan->order, Order::kInterleaved);
  EXPECT_EQ(plan->gpus, 0);
}

TEST(Plan, TakesWhatWasAskedFor) {
  PlanRequest request;
  request.topologies = {"2x3"};
  request.arms = {"legacy-node-lock"};
  request.runs = 7;
  request.node = "sim";
  request.profile = "instant";
  request.time_scale = 0.5;
  request.workload = "context";
  request.hold = "all";
  request.isolate = "pid";
  request.broker = true;
  request.view = "translated";
  request.order = "blocked";
  request.seed = 42;
  request.gpus = 8;
  request.worker_timeout_s = 1.5;
  request.run_timeout_s = 2.5;
  const auto plan = resolve(request);
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(plan->topologies.at(0).text(), "2x3");
  EXPECT_EQ(plan->arms, Strings{"legacy-node-lock"});
  EXPECT_EQ(plan->runs, 7);
  EXPECT_EQ(plan->profile_name, "instant");
  EXPECT_EQ(plan->time_scale, 0.5);
  EXPECT_EQ(plan->workload, evidence::Workload::kContext);
  EXPECT_EQ(plan->hold, evidence::Hold::kAll);
  EXPECT_EQ(plan->isolation, evidence::Isolation::kPid);
  EXPECT_TRUE(plan->broker);
  EXPECT_EQ(plan->view, evidence::NvmlView::kTranslated);
  EXPECT_EQ(plan->order, Order::kBlocked);
  EXPECT_EQ(plan->seed, 42U);
  EXPECT_EQ(plan->gpus, 8);
  EXPECT_EQ(plan->worker_timeout_s, 1.5);
  EXPECT_EQ(plan->run_timeout_s, 2.5);
}

TEST(Plan, AnIsolationThatDoesNotExistNamesThoseThatDo) {
  PlanRequest request;
  request.isolate = "net";
  EXPECT_TRUE(refused(request, "--isolate", {"'net'", "none or pid"}));
}

TEST(Plan, AStrongerRequestReplacesOnlyWhatItSays) {
  PlanRequest file;
  file.topologies = {"1x2", "2x1"};
  file.runs = 5;
  file.seed = 9;
  file.broker = true;
  file.isolate = "pid";
  PlanRequest command_line;
  command_line.topologies = {"3x3"};
  command_line.seed = 0;
  command_line.isolate = "none";
  file.override_with(command_line);
  EXPECT_EQ(file.topologies, Strings{"3x3"});
  EXPECT_EQ(file.runs, 5);
  EXPECT_EQ(file.seed, 0);
  EXPECT_EQ(file.isolate, "none");
  EXPECT_EQ(file.broker, true);
  EXPECT_FALSE(file.arms);
}

TEST(Plan, EveryFieldCanBeOverridden) {
  PlanRequest strong;
  strong.topologies = {"1x1"};
  strong.arms = {"native"};
  strong.runs = 1;
  strong.node = strong.profile = strong.workload = strong.hold = strong.view = strong.order = "x";
  strong.time_scale = strong.worker_timeout_s = strong.run_timeout_s = 1;
  strong.seed = strong.gpus = strong.neighbours = 1;
  strong.devices = "0";
  strong.shims = {"a=b"};
  PlanRequest request;
  request.override_with(strong);
  EXPECT_TRUE(request.topologies && request.arms && request.runs && request.node && request.profile);
  EXPECT_TRUE(request.time_scale && request.workload && request.hold && request.view && request.order);
  EXPECT_TRUE(request.neighbours && request.devices && request.shims);
  EXPECT_TRUE(request.seed && request.gpus && request.worker_timeout_s && request.run_timeout_s);
}

TEST(Plan, DeadlinesAndTheLocksPatienceGrowWithTheTimeScale) {
  PlanRequest request;
  request.time_scale = 1;
  const auto whole = resolve(request);
  request.time_scale = 0.01;
  const auto hundredth = resolve(request);
  ASSERT_TRUE(whole && hundredth);
  EXPECT_EQ(whole->lock_timeout_s, 330);  // eleven waits of 30 s
  EXPECT_NEAR(hundredth->lock_timeout_s, 3.3, 1e-9);
  EXPECT_LT(hundredth->worker_timeout_s, whole->worker_timeout_s);
  EXPECT_LT(whole->worker_timeout_s, whole->run_timeout_s);
  EXPECT_GT(hundredth->worker_timeout_s, hundredth->lock_timeout_s);
}

TEST(Plan, TopologiesAreCheckedAndDifferent) {
  for (const char* text : {"0x5", "1x", "x", "1x-2", "99999x99999", ""}) {
    EXPECT_TRUE(refused(with(&PlanRequest::topologies, Strings{"1x1", text}), "--topology", {text})) << text;
  }
  EXPECT_TRUE(refused(with(&PlanRequest::topologies, Strings{}), "--topology", {"1x250"}));
  EXPECT_TRUE(refused(with(&PlanRequest::topologies, Strings{"2x2", "1x1", "2x2"}), "--topology", {"twice"}));
}

TEST(Plan, ArmsAreCheckedAndDifferent) {
  EXPECT_TRUE(
      refused(with(&PlanRequest::arms, Strings{"legasy"}), "--arm", {"legasy", "did you mean 'legacy'"}));
  EXPECT_TRUE(refused(with(&PlanRequest::arms, Strings{}), "--arm", {"native"}));
  EXPECT_TRUE(refused(with(&PlanRequest::arms, Strings{"native", "native"}), "--arm", {"twice"}));
}

TEST(Plan, NumbersHaveBounds) {
  for (const int64_t runs : {int64_t{0}, int64_t{-1}, int64_t{1001}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_TRUE(refused(with(&PlanRequest::runs, runs), "--runs", {"1 to 1000", std::to_string(runs)}));
  }
  EXPECT_TRUE(refused(with(&PlanRequest::seed, -1), "--seed", {"-1"}));
  for (const int64_t gpus : {int64_t{0}, int64_t{17}})
    EXPECT_TRUE(refused(with(&PlanRequest::gpus, gpus), "--gpus", {"1 to 16"}));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double number : {0.0, -1.0, infinity, std::nan(""), 1e9}) {
    EXPECT_TRUE(refused(with(&PlanRequest::time_scale, number), "--time-scale")) << number;
    EXPECT_TRUE(refused(with(&PlanRequest::worker_timeout_s, number), "--worker-timeout")) << number;
    EXPECT_TRUE(refused(with(&PlanRequest::run_timeout_s, number), "--run-timeout")) << number;
  }
}

TEST(Plan, TheirBoundsAreWithin) {
  EXPECT_TRUE(resolve(with(&PlanRequest::runs, 1)));
  EXPECT_TRUE(resolve(with(&PlanRequest::runs, 1000)));
  EXPECT_TRUE(resolve(with(&PlanRequest::time_scale, 100)));
  EXPECT_TRUE(resolve(with(&PlanRequest::seed, std::numeric_limits<int64_t>::max())));
  EXPECT_TRUE(resolve(with(&PlanRequest::gpus, 16)));
}

TEST(Plan, AWrongWordNamesTheRightOnes) {
  EXPECT_TRUE(refused(with(&PlanRequest::workload, "contex"), "--workload",
                      {"contex", "init or context", "mean 'context'"}));
  EXPECT_TRUE(refused(with(&PlanRequest::hold, "al"), "--hold", {"none or all", "mean 'all'"}));
  EXPECT_TRUE(
      refused(with(&PlanRequest::view, "globall"), "--view", {"global or translated", "mean 'global'"}));
  EXPECT_TRUE(refused(with(&PlanRequest::view, "unknown"), "--view"));
  EXPECT_TRUE(
      refused(with(&PlanRequest::order, "block"), "--order", {"interleaved or blocked", "mean 'blocked'"}));
  EXPECT_TRUE(refused(with(&PlanRequest::node, "simm"), "--node", {"auto, sim or real", "mean 'sim'"}));
}

TEST(Plan, AnUnknownProfileNamesTheNearest) {
  const auto plan = resolve(with(&PlanRequest::profile, "studdy"));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, base::ErrorKind::kUsage);
  EXPECT_NE(plan.error().line().find("did you mean 'study'"), std::string::npos) << plan.error().line();
}

TEST(Plan, AProfileCanBeAFileAndIsKeptWhole) {
  const test::TemporaryFolder folder;
  std::ifstream in(std::string(TEST_PROFILE_DIR) + "/instant.toml");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text += "# with a note of mine\n";
  folder.write("mine.toml", text);
  const auto plan = resolve(with(&PlanRequest::profile, (folder.path() / "mine.toml").string()));
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(plan->profile_toml, text);
  EXPECT_EQ(plan->profile_name, "instant");
  folder.write("bad.toml", "name = 3\n");
  EXPECT_FALSE(resolve(with(&PlanRequest::profile, (folder.path() / "bad.toml").string())));
}

}  // namespace
}  // namespace rollcall::study
