// A request is laid over a weaker one: what the command line says replaces what the
// plan file says.
#include <fmt/format.h>

#include <algorithm>

#include "study/plan.h"

namespace rollcall::study {

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
  take(isolate, stronger.isolate, "--isolate");
  take(broker, stronger.broker, "--broker");
  take(view, stronger.view, "--view");
  take(order, stronger.order, "--order");
  take(seed, stronger.seed, "--seed");
  take(gpus, stronger.gpus, "--gpus");
  take(neighbours, stronger.neighbours, "--neighbours");
  take(devices, stronger.devices, "--devices");
  take(shims, stronger.shims, "--shim");
  take(worker_timeout_s, stronger.worker_timeout_s, "--worker-timeout");
  take(run_timeout_s, stronger.run_timeout_s, "--run-timeout");
}

}  // namespace rollcall::study
