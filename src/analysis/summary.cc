// From runs to what a person wants to know. Only valid runs count; a condition
// without any still appears, so that what was asked for and did not work
// cannot be overlooked.
#include "analysis/summary.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analysis/times.h"
#include "analysis/validity.h"
#include "base/clock.h"

namespace rollcall::analysis {
namespace {

using evidence::Run;

constexpr const char* kNativeArm = "native";
constexpr const char* kControlArm = "legacy";

// A condition while its runs are being counted.
struct Tally {
  Condition condition;
  std::vector<double> external_wall_s;
  std::vector<double> span_s;
};

bool belongs(const Run& run, const Condition& condition) {
  return run.record.topology == condition.topology && run.record.arm == condition.arm &&
         run.record.has_shim == condition.has_shim && run.record.workload == condition.workload &&
         run.record.hold == condition.hold;
}

Tally& tally_of(const Run& run, std::vector<Tally>& tallies) {
  const auto found = std::find_if(tallies.begin(), tallies.end(),
                                  [&](const Tally& tally) { return belongs(run, tally.condition); });
  if (found != tallies.end()) return *found;
  Tally tally;
  tally.condition.topology = run.record.topology;
  tally.condition.arm = run.record.arm;
  tally.condition.has_shim = run.record.has_shim;
  tally.condition.discovers = run.record.discovers();
  tally.condition.workload = run.record.workload;
  tally.condition.hold = run.record.hold;
  tallies.push_back(std::move(tally));
  return tallies.back();
}

double seconds(int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerSecond);
}

void count_valid(const Run& run, Tally& tally) {
  Condition& condition = tally.condition;
  ++condition.valid_runs;
  condition.workers += run.record.topology.workers();
  const ClassCounts counts = count_classes(classify(run));
  for (size_t i = 0; i < counts.count.size(); ++i) condition.classes.count[i] += counts.count[i];
  if (run.record.discovers()) {
    for (const evidence::WorkerRecord& worker : run.workers) {
      if (!worker.discovery.reason.empty()) ++condition.reasons[worker.discovery.reason];
    }
  }
  for (const evidence::WorkerRecord& worker : run.workers) {
    if (worker.cuinit_result.value_or(0) != 0) ++condition.cuinit_failed;
  }
  if (const auto wall = external_wall_ns(run.record)) tally.external_wall_s.push_back(seconds(*wall));
  if (const auto span = span_ns(run)) tally.span_s.push_back(seconds(*span));
}

// An order that does not depend on the one in which the runs were drawn: few
// caches before many, what has no shim before what has one.
void put_in_order(std::vector<Condition>& conditions) {
  const auto rank = [](const Condition& c) {
    return std::tuple(c.topology, c.has_shim, std::string_view(c.arm));
  };
  std::stable_sort(conditions.begin(), conditions.end(),
                   [&](const Condition& a, const Condition& b) { return rank(a) < rank(b); });
}

void relate_to_native(std::vector<Condition>& conditions) {
  for (Condition& condition : conditions) {
    if (condition.arm == kNativeArm) continue;
    for (const Condition& native : conditions) {
      const bool comparable = native.arm == kNativeArm && native.topology == condition.topology &&
                              native.workload == condition.workload && native.hold == condition.hold;
      if (!comparable || native.external_wall_s.mean.value_or(0) <= 0 || !condition.external_wall_s.mean)
        continue;
      condition.ratio_to_native = *condition.external_wall_s.mean / *native.external_wall_s.mean;
    }
  }
}

Control control_of(const std::vector<Condition>& conditions) {
  Control control = Control::kAbsent;
  for (const Condition& condition : conditions) {
    if (condition.arm != kControlArm || condition.topology.caches() < 2 || condition.valid_runs == 0)
      continue;
    if (condition.classes.of(Class::kPeer) > 0) return Control::kVisible;
    control = Control::kNotVisible;
  }
  return control;
}

Setting setting_of(const evidence::RunRecord& record) {
  Setting setting;
  setting.node = record.node;
  setting.profile = record.profile;
  setting.device_name = record.device_name;
  setting.driver_version = record.driver_version;
  setting.time_scale = record.time_scale;
  setting.isolation = record.isolation;
  setting.view = record.view;
  setting.neighbours = record.neighbours;
  setting.devices = record.devices;
  setting.truth = record.truth;
  return setting;
}

}  // namespace

ExperimentSummary summarise(const std::vector<Run>& runs) {
  std::vector<const Run*> ordered;
  for (const Run& run : runs) ordered.push_back(&run);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Run* a, const Run* b) { return a->record.number < b->record.number; });

  ExperimentSummary summary;
  std::vector<Tally> tallies;
  for (const Run* run : ordered) {
    ++summary.runs;
    const Setting setting = setting_of(run->record);
    if (std::find(summary.settings.begin(), summary.settings.end(), setting) == summary.settings.end()) {
      summary.settings.push_back(setting);
    }
    Tally& tally = tally_of(*run, tallies);
    auto reasons = invalid_reasons(*run);
    if (reasons.empty()) {
      count_valid(*run, tally);
    } else {
      ++tally.condition.invalid_runs;
      summary.invalid.emplace_back(run->record.id(), std::move(reasons));
    }
  }
  for (Tally& tally : tallies) {
    tally.condition.external_wall_s = mean_sd(tally.external_wall_s);
    tally.condition.span_s = mean_sd(tally.span_s);
    summary.conditions.push_back(std::move(tally.condition));
  }
  put_in_order(summary.conditions);
  relate_to_native(summary.conditions);
  summary.control = control_of(summary.conditions);
  return summary;
}

std::set<Class> occurred(const std::vector<Run>& runs, const std::set<Class>& wanted) {
  const bool others = std::any_of(runs.begin(), runs.end(), [](const Run& run) {
    return run.record.discovers() && run.record.arm != kControlArm;
  });
  std::set<Class> result;
  for (const Run& run : runs) {
    if (!run.record.discovers() || (others && run.record.arm == kControlArm)) continue;
    const ClassCounts counts = count_classes(classify(run));
    for (const Class value : wanted) {
      if (counts.of(value) > 0) result.insert(value);
    }
  }
  return result;
}

}  // namespace rollcall::analysis
