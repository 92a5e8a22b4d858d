// Defaults and checks. Every value of a plan is valid once resolve_plan has
// returned it; nothing behind it checks again.
#include "study/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/nearest.h"
#include "simgpu/profile.h"
#include "simgpu/protocol.h"
#include "study/arms.h"

namespace rollcall::study {
namespace {

// The study's own conditions.
const std::vector<std::string> kDefaultTopologies = {"1x250", "50x5"};
const std::vector<std::string> kDefaultArms = {"native", "legacy"};
constexpr int kDefaultRuns = 3;
constexpr const char* kDefaultProfile = "study";
// The default study takes about eleven minutes at scale 1, and about one at this.
constexpr double kDefaultTimeScale = 0.08;

constexpr int kMaxRuns = 1000;
constexpr double kMaxTimeScale = 100;
constexpr double kMaxTimeoutS = 7 * 24 * 3600.0;
constexpr size_t kMaxProfileBytes = 1 << 20;

// Deadlines on a simulated node: a part for the machine, which the time scale
// does not shorten, and a part for the driver, which it does.
double default_worker_timeout_s(double time_scale) {
  return 60 + 600 * time_scale;
}
double default_run_timeout_s(double time_scale) {
  return 120 + 900 * time_scale;
}
// HAMi-core gives up its lock after 11 waits of 30 s.
double lock_timeout_s(double time_scale) {
  return 330 * time_scale;
}

template <typename Value>
base::Result<Value> pick(const std::optional<std::string>& said, const std::string& option, Value otherwise,
                         const std::vector<Value>& valid) {
  if (!said) return otherwise;
  std::vector<std::string> names;
  for (const Value value : valid) {
    if (to_text(value) == *said) return value;
    names.emplace_back(to_text(value));
  }
  return base::usage_error(option,
                           fmt::format("unknown value '{}'; expected {}", *said, fmt::join(names, " or ")),
                           base::did_you_mean(*said, names));
}

base::Result<int64_t> whole_number(const std::optional<int64_t>& said, const std::string& option,
                                   int64_t otherwise, int64_t least, int64_t most) {
  const int64_t value = said.value_or(otherwise);
  if (value < least || value > most) {
    return base::usage_error(option, fmt::format("expected {} to {}, found {}", least, most, value));
  }
  return value;
}

base::Result<double> positive(const std::optional<double>& said, const std::string& option, double otherwise,
                              double most) {
  const double value = said.value_or(otherwise);
  if (!std::isfinite(value) || value <= 0 || value > most) {
    return base::usage_error(option,
                             fmt::format("expected a number above 0 and up to {}, found {}", most, value));
  }
  return value;
}

// The same error, told where the user wrote what is wrong.
tl::unexpected<base::Error> at(const std::string& place, base::Error error) {
  error.where = place;
  return tl::unexpected(std::move(error));
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
  const std::vector<std::string> arms = request.arms.value_or(kDefaultArms);
  for (size_t i = 0; i < arms.size(); ++i) {
    const auto arm = find_arm(arms[i], {}, request.place("--arm", i));
    if (!arm) return tl::unexpected(arm.error());
    plan.arms.push_back(arm->name);
  }
  if (plan.topologies.empty())
    return base::usage_error(request.place("--topology"), "no topology given", "for example 1x250");
  if (plan.arms.empty())
    return base::usage_error(request.place("--arm"), "no arm given", "for example native");
  if (has_duplicates(plan.topologies))
    return base::usage_error(request.place("--topology"), "the same topology is given twice");
  if (has_duplicates(plan.arms))
    return base::usage_error(request.place("--arm"), "the same arm is given twice");
  const auto runs = whole_number(request.runs, request.place("--runs"), kDefaultRuns, 1, kMaxRuns);
  if (!runs) return tl::unexpected(runs.error());
  plan.runs = static_cast<int>(*runs);
  return {};
}

base::Result<void> resolve_node(const PlanRequest& request, const std::filesystem::path& profile_dir,
                                Plan& plan) {
  const std::string node = request.node.value_or("auto");
  if (node == "real") {
    return base::usage_error(request.place("--node"), "'real' is not there yet in this version",
                             "use --node sim");
  }
  if (node != "auto" && node != "sim") {
    const std::vector<std::string> names = {"auto", "sim"};
    return base::usage_error(request.place("--node"),
                             fmt::format("unknown value '{}'; expected auto or sim", node),
                             base::did_you_mean(node, names));
  }
  plan.node = evidence::NodeKind::kSimulated;
  auto file = simgpu::find_profile(request.profile.value_or(kDefaultProfile), profile_dir);
  if (!file) return at(request.place("--profile"), std::move(file.error()));
  const auto text = base::read_file(*file, kMaxProfileBytes);
  if (!text) return tl::unexpected(text.error());
  const auto profile = simgpu::parse_profile(*text, file->string());
  if (!profile) return tl::unexpected(profile.error());
  plan.profile_name = profile->name;
  plan.profile_toml = *text;
  const auto scale =
      positive(request.time_scale, request.place("--time-scale"), kDefaultTimeScale, kMaxTimeScale);
  if (!scale) return tl::unexpected(scale.error());
  plan.time_scale = *scale;
  const auto gpus =
      whole_number(request.gpus, request.place("--gpus"), 0, request.gpus ? 1 : 0, simgpu::kMaxGpus);
  if (!gpus) return tl::unexpected(gpus.error());
  plan.gpus = static_cast<int>(*gpus);
  return {};
}

base::Result<void> resolve_words(const PlanRequest& request, Plan& plan) {
  using evidence::Hold;
  using evidence::NvmlView;
  using evidence::Workload;
  const auto workload = pick(request.workload, request.place("--workload"), Workload::kInit,
                             {Workload::kInit, Workload::kContext});
  if (!workload) return tl::unexpected(workload.error());
  const auto hold = pick(request.hold, request.place("--hold"), Hold::kNone, {Hold::kNone, Hold::kAll});
  if (!hold) return tl::unexpected(hold.error());
  const auto view = pick(request.view, request.place("--view"), NvmlView::kGlobal,
                         {NvmlView::kGlobal, NvmlView::kTranslated});
  if (!view) return tl::unexpected(view.error());
  const auto order = pick(request.order, request.place("--order"), Order::kInterleaved,
                          {Order::kInterleaved, Order::kBlocked});
  if (!order) return tl::unexpected(order.error());
  const auto seed = whole_number(request.seed, request.place("--seed"), 1, 0, INT64_MAX);
  if (!seed) return tl::unexpected(seed.error());
  plan.workload = *workload;
  plan.hold = *hold;
  plan.view = *view;
  plan.order = *order;
  plan.seed = static_cast<uint64_t>(*seed);
  return {};
}

base::Result<void> resolve_timeouts(const PlanRequest& request, Plan& plan) {
  const auto worker = positive(request.worker_timeout_s, request.place("--worker-timeout"),
                               default_worker_timeout_s(plan.time_scale), kMaxTimeoutS);
  if (!worker) return tl::unexpected(worker.error());
  const auto run = positive(request.run_timeout_s, request.place("--run-timeout"),
                            default_run_timeout_s(plan.time_scale), kMaxTimeoutS);
  if (!run) return tl::unexpected(run.error());
  plan.worker_timeout_s = *worker;
  plan.run_timeout_s = *run;
  plan.lock_timeout_s = lock_timeout_s(plan.time_scale);
  return {};
}

}  // namespace

std::string_view to_text(Order order) {
  return order == Order::kInterleaved ? "interleaved" : "blocked";
}

std::string PlanRequest::place(const std::string& option) const {
  const auto found = places.find(option);
  return found == places.end() ? option : found->second;
}

std::string PlanRequest::place(const std::string& option, size_t index) const {
  const auto found = places.find(fmt::format("{}#{}", option, index));
  return found == places.end() ? place(option) : found->second;
}

void PlanRequest::override_with(const PlanRequest& stronger) {
  const auto take = [&](auto& value, const auto& other, const std::string& option) {
    if (!other) return;
    value = other;
    // What came from the file is no longer what counts, nor is where it stood.
    std::erase_if(places, [&](const auto& entry) {
      return entry.first == option || entry.first.starts_with(option + "#");
    });
  };
  take(topologies, stronger.topologies, "--topology");
  take(arms, stronger.arms, "--arm");
  take(runs, stronger.runs, "--runs");
  take(node, stronger.node, "--node");
  take(profile, stronger.profile, "--profile");
  take(time_scale, stronger.time_scale, "--time-scale");
  take(workload, stronger.workload, "--workload");
  take(hold, stronger.hold, "--hold");
  take(view, stronger.view, "--view");
  take(order, stronger.order, "--order");
  take(seed, stronger.seed, "--seed");
  take(gpus, stronger.gpus, "--gpus");
  take(worker_timeout_s, stronger.worker_timeout_s, "--worker-timeout");
  take(run_timeout_s, stronger.run_timeout_s, "--run-timeout");
}

base::Result<Plan> resolve_plan(const PlanRequest& request, const std::filesystem::path& profile_dir) {
  Plan plan;
  auto step = resolve_conditions(request, plan);
  if (step) step = resolve_node(request, profile_dir, plan);
  if (step) step = resolve_words(request, plan);
  if (step) step = resolve_timeouts(request, plan);
  if (!step) return tl::unexpected(step.error());
  return plan;
}

}  // namespace rollcall::study
