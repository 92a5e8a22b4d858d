// Defaults and checks. Every value of a plan is valid once resolve_plan has
// returned it; nothing behind it checks again.
#include "study/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "study/arms.h"
#include "study/plan_values.h"

namespace rollcall::study {
namespace {

// The study's own conditions.
const std::vector<std::string> kDefaultTopologies = {"1x250", "50x5"};
const std::vector<std::string> kDefaultArms = {"native", "legacy", "tiered"};
constexpr int kDefaultRuns = 3;

constexpr int kMaxRuns = 1000;
constexpr double kMaxTimeoutS = 7 * 24 * 3600.0;

// Deadlines: on a simulated node a part for the machine, which the time scale does
// not shorten, and a part for the driver, which it does.
double default_worker_timeout_s(const Plan& plan) {
  return plan.node == evidence::NodeKind::kReal ? 600 : 60 + 600 * plan.time_scale;
}
double default_run_timeout_s(const Plan& plan) {
  return plan.node == evidence::NodeKind::kReal ? 900 : 120 + 900 * plan.time_scale;
}
// HAMi-core gives up its lock after 11 waits of 30 s.
double lock_timeout_s(double time_scale) {
  return 330 * time_scale;
}

template <typename Value>
bool has_duplicates(const std::vector<Value>& values) {
  return std::set<Value>(values.begin(), values.end()).size() != values.size();
}

base::Result<void> resolve_conditions(const PlanRequest& request, Plan& plan) {
  const std::vector<std::string> topologies = request.topologies.value_or(kDefaultTopologies);
  for (size_t i = 0; i < topologies.size(); ++i) {
    auto topology = evidence::Topology::parse(topologies[i]);
    if (!topology) {
      topology.error().what = topology.error().where + ": " + topology.error().what;  // which of them it is
      return at(request.place("--topology", i), std::move(topology.error()));
    }
    plan.topologies.push_back(*topology);
  }
  if (plan.topologies.empty())
    return base::usage_error(request.place("--topology"), "no topology given", "for example 1x250");
  if (has_duplicates(plan.topologies))
    return base::usage_error(request.place("--topology"), "the same topology is given twice");
  const auto runs = whole_number(request.runs, request.place("--runs"), kDefaultRuns, 1, kMaxRuns);
  if (!runs) return tl::unexpected(runs.error());
  plan.runs = static_cast<int>(*runs);
  return {};
}

// Those that are named, or the default ones; and what the user defines is to be run.
base::Result<void> resolve_arms(const PlanRequest& request, Plan& plan) {
  auto shims = resolve_shims(request);
  if (!shims) return tl::unexpected(shims.error());
  plan.shims = std::move(*shims);
  const std::vector<std::string> arms = request.arms.value_or(kDefaultArms);
  for (size_t i = 0; i < arms.size(); ++i) {
    const auto arm = find_arm(arms[i], plan.shims, request.place("--arm", i));
    if (!arm) return tl::unexpected(arm.error());
    plan.arms.push_back(arm->name);
  }
  for (const Arm& shim : plan.shims) {
    if (std::find(plan.arms.begin(), plan.arms.end(), shim.name) == plan.arms.end())
      plan.arms.push_back(shim.name);
  }
  if (plan.arms.empty())
    return base::usage_error(request.place("--arm"), "no arm given", "for example native");
  if (has_duplicates(plan.arms))
    return base::usage_error(request.place("--arm"), "the same arm is given twice");
  return {};
}

base::Result<void> resolve_words(const PlanRequest& request, Plan& plan) {
  using evidence::Hold;
  using evidence::Isolation;
  using evidence::Workload;
  const auto workload = pick(request.workload, request.place("--workload"), Workload::kInit,
                             {Workload::kInit, Workload::kContext});
  if (!workload) return tl::unexpected(workload.error());
  const auto hold = pick(request.hold, request.place("--hold"), Hold::kNone, {Hold::kNone, Hold::kAll});
  if (!hold) return tl::unexpected(hold.error());
  const auto order = pick(request.order, request.place("--order"), Order::kInterleaved,
                          {Order::kInterleaved, Order::kBlocked});
  if (!order) return tl::unexpected(order.error());
  const auto seed = whole_number(request.seed, request.place("--seed"), 1, 0, INT64_MAX);
  if (!seed) return tl::unexpected(seed.error());
  const auto isolation = pick(request.isolate, request.place("--isolate"), Isolation::kNone,
                              {Isolation::kNone, Isolation::kPid});
  if (!isolation) return tl::unexpected(isolation.error());
  plan.isolation = *isolation;
  plan.broker = request.broker.value_or(false);
  plan.workload = *workload;
  plan.hold = *hold;
  plan.order = *order;
  plan.seed = static_cast<uint64_t>(*seed);
  return {};
}

// nvmlInit alone makes no context, so a workload of contexts cannot be asked of it.
base::Result<void> check_workload(const PlanRequest& request, const Plan& plan) {
  if (plan.workload != evidence::Workload::kContext) return {};
  for (size_t i = 0; i < plan.arms.size(); ++i) {
    const auto arm = find_arm(plan.arms[i], plan.shims, "");
    if (arm && arm->exercise == evidence::Exercise::kNvmlInit) {
      return base::usage_error(
          request.place("--arm", i),
          fmt::format("the arm '{}' makes no context, so it has no workload context", arm->name),
          "leave it out, or use --workload init");
    }
  }
  return {};
}

base::Result<void> resolve_timeouts(const PlanRequest& request, Plan& plan) {
  const auto worker = positive(request.worker_timeout_s, request.place("--worker-timeout"),
                               default_worker_timeout_s(plan), kMaxTimeoutS);
  if (!worker) return tl::unexpected(worker.error());
  const auto run = positive(request.run_timeout_s, request.place("--run-timeout"),
                            default_run_timeout_s(plan), kMaxTimeoutS);
  if (!run) return tl::unexpected(run.error());
  plan.worker_timeout_s = *worker;
  plan.run_timeout_s = *run;
  plan.lock_timeout_s = lock_timeout_s(plan.time_scale);
  return {};
}

}  // namespace

base::Result<Plan> resolve_plan(const PlanRequest& request, const std::filesystem::path& profile_dir,
                                const ObserveNode& observe) {
  Plan plan;
  auto step = resolve_conditions(request, plan);
  if (step) step = resolve_arms(request, plan);
  if (step) step = resolve_words(request, plan);
  if (step) step = check_workload(request, plan);
  if (step) step = resolve_node(request, profile_dir, observe, plan);
  if (step) step = resolve_timeouts(request, plan);
  if (!step) return tl::unexpected(step.error());
  return plan;
}

}  // namespace rollcall::study
