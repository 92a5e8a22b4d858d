// What is measured of one run: the raw times of its workers that may be counted, and
// the one figure that stands for the run in statistics over runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/conditions.h"
#include "analysis/estimate.h"
#include "analysis/roster.h"
#include "evidence/records.h"

namespace rollcall::analysis {

// Result of a driver call that succeeded.
inline constexpr int kCudaSuccess = 0;

// The one record of each worker of the topology, as far as there is one.
std::vector<const evidence::WorkerRecord*> workers_of(const evidence::Run& run, const Roster& roster);

// A failed call's time says nothing of what a successful one takes: unset then.
std::optional<int64_t> cuinit_ns(const evidence::WorkerRecord& worker);
std::optional<int64_t> context_ns(const evidence::WorkerRecord& worker);
// The probe, or nvmlInit.
std::optional<int64_t> control_ns(const evidence::WorkerRecord& worker);
// From the opening of the gate to the context that an application would work with.
std::optional<int64_t> first_context_ns(const evidence::WorkerRecord& worker);

// The values of those workers that have one.
template <typename Function>
std::vector<int64_t> values_of(const std::vector<const evidence::WorkerRecord*>& workers, Function measure) {
  std::vector<int64_t> values;
  for (const evidence::WorkerRecord* worker : workers) {
    if (const std::optional<int64_t> value = measure(*worker)) values.push_back(*value);
  }
  return values;
}

// A time of a run, in the unit that its name ends with.
struct TimeMeasure {
  std::string_view name;
  bool contexts_only = false;  // exists in the workload context alone
  std::optional<double> (*of_run)(const evidence::Run& run) = nullptr;
};
inline constexpr size_t kTimeMeasures = 6;
// In the order of statistics.csv.
const std::array<TimeMeasure, kTimeMeasures>& time_measures();

// The rows of statistics.csv that belong to one condition of `all`.
std::vector<MeasureRow> measure_rows(const ConditionRuns& condition, const std::vector<ConditionRuns>& all);

}  // namespace rollcall::analysis
