// Which node a plan is for: what `auto` chooses, what a real node refuses, and which
// devices can be named.
#include <gtest/gtest.h>

#include <cstdlib>

#include "study/plan.h"

namespace rollcall::study {
namespace {

using evidence::NodeKind;
using Strings = std::vector<std::string>;

constexpr const char* kUuid0 = "GPU-11111111-0000-0000-0000-000000000000";
constexpr const char* kUuid1 = "GPU-22222222-0000-0000-0000-000000000000";

probe::NodeFacts two_devices() {
  probe::NodeFacts facts;
  facts.cuda_uuids = {kUuid0, kUuid1};
  return facts;
}

probe::NodeFacts no_driver() {
  probe::NodeFacts facts;
  facts.cuda_error = "libcuda.so.1 is not there";
  return facts;
}

class PlanNode : public testing::Test {
 protected:
  void SetUp() override { unsetenv("CUDA_VISIBLE_DEVICES"); }
  void TearDown() override { unsetenv("CUDA_VISIBLE_DEVICES"); }

  base::Result<Plan> resolve(const base::Result<probe::NodeFacts>& facts) {
    asked_ = 0;
    return resolve_plan(request_, TEST_PROFILE_DIR, [&](bool all_devices) {
      ++asked_;
      all_devices_ = all_devices;
      return facts;
    });
  }
  std::string refusal(const base::Result<probe::NodeFacts>& facts) {
    const auto plan = resolve(facts);
    return plan ? "accepted" : plan.error().line();
  }

  PlanRequest request_;
  int asked_ = 0;
  bool all_devices_ = false;
};

TEST_F(PlanNode, AutoIsTheMachinesOwnWhereADeviceAnswers) {
  const auto plan = resolve(two_devices());
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(plan->node, NodeKind::kReal);
  EXPECT_EQ(plan->profile_name, "");
  EXPECT_EQ(plan->time_scale, 1);
  EXPECT_EQ(plan->view, evidence::NvmlView::kUnknown) << "it is measured later";
  EXPECT_EQ(plan->worker_timeout_s, 600);
  EXPECT_EQ(plan->run_timeout_s, 900);
  EXPECT_EQ(plan->lock_timeout_s, 330);
  EXPECT_EQ(plan->devices, Strings{});
  EXPECT_EQ(asked_, 1);
}

TEST_F(PlanNode, AutoIsSimulatedWhereNoneAnswers) {
  for (const base::Result<probe::NodeFacts>& facts :
       {base::Result<probe::NodeFacts>(no_driver()),
        base::Result<probe::NodeFacts>(base::failure("x", "hangs"))}) {
    const auto plan = resolve(facts);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->node, NodeKind::kSimulated);
    EXPECT_EQ(plan->profile_name, "study");
  }
}

TEST_F(PlanNode, AnOptionOfTheSimulatedNodeChoosesItWithoutAsking) {
  const std::vector<void (*)(PlanRequest&)> options = {
      [](PlanRequest& r) { r.profile = "instant"; }, [](PlanRequest& r) { r.time_scale = 0.5; },
      [](PlanRequest& r) { r.view = "translated"; }, [](PlanRequest& r) { r.gpus = 2; },
      [](PlanRequest& r) { r.node = "sim"; }};
  for (const auto& option : options) {
    request_ = {};
    option(request_);
    const auto plan = resolve(two_devices());
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->node, NodeKind::kSimulated);
    EXPECT_EQ(asked_, 0);
  }
}

TEST_F(PlanNode, ARealNodeThatCannotBeUsedIsAnErrorWithItsReason) {
  request_.node = "real";
  EXPECT_NE(refusal(no_driver()).find("libcuda.so.1 is not there"), std::string::npos);
  EXPECT_NE(refusal(base::failure("rollcall-probe", "did not answer")).find("did not answer"),
            std::string::npos);
}

TEST_F(PlanNode, ARealNodeRefusesWhatOnlyASimulatedOneHas) {
  const std::vector<std::pair<const char*, void (*)(PlanRequest&)>> options = {
      {"--profile", [](PlanRequest& r) { r.profile = "instant"; }},
      {"--time-scale", [](PlanRequest& r) { r.time_scale = 0.5; }},
      {"--view", [](PlanRequest& r) { r.view = "translated"; }},
      {"--gpus", [](PlanRequest& r) { r.gpus = 2; }}};
  for (const auto& [name, option] : options) {
    request_ = {};
    request_.node = "real";
    option(request_);
    const std::string line = refusal(two_devices());
    EXPECT_TRUE(line.starts_with(name)) << line;
    EXPECT_NE(line.find("only a simulated node"), std::string::npos) << line;
  }
}

TEST_F(PlanNode, DevicesAreDealtInGroups) {
  request_.devices = std::string("1,0/") + kUuid1 + "/GPU-1111";
  const auto plan = resolve(two_devices());
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(plan->devices, (Strings{"1,0", kUuid1, "GPU-1111"}));
  EXPECT_TRUE(all_devices_) << "what CUDA_VISIBLE_DEVICES hides can be named, too";
}

TEST_F(PlanNode, ADeviceThatIsNotThereIsRefusedByItsName) {
  for (const char* devices :
       {"2", "0,2", "0/2", "", "0,", "/", "GPU-", "GPU-3", "GPU-11111111-0000-0000-0000-0000000000001", "one",
        "-1", "01", "99999999999"}) {
    request_.devices = devices;
    const std::string line = refusal(two_devices());
    EXPECT_TRUE(line.starts_with("--devices")) << devices << ": " << line;
  }
  request_.devices = "2";
  EXPECT_NE(refusal(two_devices()).find("this node has 2"), std::string::npos);
  for (const char* same : {"0,0", "0,GPU-1111", "GPU-1,gpu-11"}) {
    request_.devices = same;
    EXPECT_NE(refusal(two_devices()).find("twice"), std::string::npos) << same;
  }
  std::string many = "0";
  for (int i = 0; i < 4096; ++i) many += "/0";
  request_.devices = many;
  EXPECT_NE(refusal(two_devices()).find("more than 4096 lists"), std::string::npos);
  request_.devices = "GPU-";
  EXPECT_NE(refusal(two_devices()).find("'GPU-'"), std::string::npos);
}

TEST_F(PlanNode, ASimulatedNodesDevicesAreThoseOfItsProfileOrOfGpus) {
  request_.node = "sim";
  request_.devices = "1,0";
  EXPECT_NE(refusal(no_driver()).find("this node has 1"), std::string::npos);
  request_.gpus = 2;
  const auto plan = resolve(no_driver());
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(plan->devices, Strings{"1,0"});
}

TEST_F(PlanNode, WhatTheUserMadeVisibleHoldsOnARealNode) {
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_EQ(resolve(two_devices())->devices, Strings{"1"});
  EXPECT_FALSE(all_devices_);
  request_.devices = "0";
  EXPECT_EQ(resolve(two_devices())->devices, Strings{"0"}) << "unless an option says otherwise";
  request_ = {};
  request_.node = "sim";
  EXPECT_EQ(resolve(two_devices())->devices, Strings{}) << "a simulated node has other devices";
}

TEST_F(PlanNode, NeighboursAreBounded) {
  for (const int64_t wrong : {int64_t{-1}, int64_t{65}}) {
    request_.neighbours = wrong;
    EXPECT_TRUE(refusal(no_driver()).starts_with("--neighbours")) << wrong;
  }
  request_.neighbours = 64;
  EXPECT_EQ(resolve(no_driver())->neighbours, 64);
}

TEST_F(PlanNode, NvmlAloneHasNoContextToMake) {
  request_.arms = {"native", "nvml-only"};
  EXPECT_TRUE(resolve(no_driver()));
  request_.workload = "context";
  EXPECT_NE(refusal(no_driver()).find("nvml-only"), std::string::npos);
  request_.arms = {"native-context"};
  EXPECT_TRUE(resolve(no_driver()));
}

}  // namespace
}  // namespace rollcall::study
