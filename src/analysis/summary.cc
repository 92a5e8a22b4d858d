// From runs to what a person wants to know. Only valid runs count; a condition
// without any still appears, so that what was asked for and did not work
// cannot be overlooked.
#include "analysis/summary.h"

#include <algorithm>

#include "analysis/conditions.h"
#include "analysis/measures.h"
#include "analysis/statistics.h"
#include "analysis/validity.h"

namespace rollcall::analysis {
namespace {

using evidence::Run;

constexpr const char* kControlArm = "legacy";

void count_valid(const Run& run, Condition& condition) {
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
}

AddedTime added_time(const ConditionRuns& runs, std::optional<int64_t> evidence::Discovery::*time) {
  std::vector<int64_t> values;
  for (const Run* run : runs.valid) {
    const Roster roster(*run);
    for (const evidence::WorkerRecord* worker : workers_of(*run, roster)) {
      if (const auto& value = worker->discovery.*time; value) values.push_back(*value);
    }
  }
  const int n = static_cast<int>(values.size());
  return {n, percentile_ns(values, 50), percentile_ns(values, 99)};
}

Condition condition_of(const ConditionRuns& runs, const std::vector<ConditionRuns>& all,
                       std::vector<MeasureRow>& measures) {
  Condition condition;
  condition.topology = runs.topology;
  condition.arm = runs.arm;
  condition.has_shim = runs.has_shim;
  condition.discovers = runs.discovers;
  condition.workload = runs.workload;
  condition.hold = runs.hold;
  condition.invalid_runs = static_cast<int>(runs.invalid.size());
  for (const Run* run : runs.valid) count_valid(*run, condition);
  if (runs.discovers && runs.identity_kind == evidence::IdentityKind::kBoth && !runs.valid.empty()) {
    condition.knowledge = knowledge_of(runs.valid);
  }
  condition.added = added_time(runs, &evidence::Discovery::added_ns);
  condition.context_added = added_time(runs, &evidence::Discovery::context_added_ns);
  for (MeasureRow& row : measure_rows(runs, all)) {
    if (row.measure == "external_wall_s") {
      condition.external_wall_s = row.estimate;
      condition.ratio_to_native = row.to_native;
    }
    if (row.measure == "span_s") condition.span_s = row.estimate;
    measures.push_back(std::move(row));
  }
  return condition;
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

// All but the broker: only arms that ask it have one, and that is no other setting.
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
  ExperimentSummary summary;
  for (const Run* run : in_order(runs)) {
    ++summary.runs;
    const Setting setting = setting_of(run->record);
    auto known = std::find_if(summary.settings.begin(), summary.settings.end(), [&](Setting other) {
      other.broker = false;
      return other == setting;
    });
    if (known == summary.settings.end()) known = summary.settings.insert(known, setting);
    known->broker = known->broker || run->record.broker;
    auto reasons = invalid_reasons(*run);
    if (!reasons.empty()) summary.invalid.emplace_back(run->record.id(), std::move(reasons));
  }
  const std::vector<ConditionRuns> conditions = conditions_of(runs);
  for (const ConditionRuns& condition : conditions) {
    summary.conditions.push_back(condition_of(condition, conditions, summary.measures));
  }
  summary.control = control_of(summary.conditions);
  return summary;
}

const MeasureRow* measure_of(const ExperimentSummary& summary, const Condition& condition,
                             std::string_view measure) {
  for (const MeasureRow& row : summary.measures) {
    if (row.measure == measure && row.topology == condition.topology && row.arm == condition.arm &&
        row.workload == condition.workload && row.hold == condition.hold) {
      return &row;
    }
  }
  return nullptr;
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
