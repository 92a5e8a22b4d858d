// See measures.h.
#include "analysis/measures.h"

#include "analysis/statistics.h"
#include "analysis/times.h"
#include "base/clock.h"

namespace rollcall::analysis {
namespace {

using evidence::Run;
using evidence::WorkerRecord;

std::optional<double> in_unit(const std::optional<int64_t>& ns, int64_t unit_ns) {
  if (!ns) return std::nullopt;
  return static_cast<double>(*ns) / static_cast<double>(unit_ns);
}

std::optional<double> span_s(const Run& run) {
  return in_unit(span_ns(run), base::kNsPerSecond);
}
std::optional<double> external_wall_s(const Run& run) {
  return in_unit(external_wall_ns(run.record), base::kNsPerSecond);
}

template <int kPercent>
std::optional<double> cuinit_percentile_ms(const Run& run) {
  const Roster roster(run);
  return in_unit(percentile_ns(values_of(workers_of(run, roster), cuinit_ns), kPercent), base::kNsPerMs);
}

std::optional<double> first_context_p50_ms(const Run& run) {
  if (run.record.workload != evidence::Workload::kContext) return std::nullopt;
  const Roster roster(run);
  return in_unit(percentile_ns(values_of(workers_of(run, roster), first_context_ns), 50), base::kNsPerMs);
}

}  // namespace

std::vector<const WorkerRecord*> workers_of(const Run& run, const Roster& roster) {
  std::vector<const WorkerRecord*> workers;
  for (int i = 0; i < run.record.topology.workers(); ++i) {
    if (const WorkerRecord* worker = roster.record(i); worker != nullptr) workers.push_back(worker);
  }
  return workers;
}

std::optional<int64_t> cuinit_ns(const WorkerRecord& worker) {
  return worker.cuinit_result == kCudaSuccess ? worker.cuinit_ns : std::nullopt;
}
std::optional<int64_t> context_ns(const WorkerRecord& worker) {
  return worker.context_result == kCudaSuccess ? worker.context_ns : std::nullopt;
}
std::optional<int64_t> control_ns(const WorkerRecord& worker) {
  return worker.control_result == kCudaSuccess ? worker.control_ns : std::nullopt;
}
std::optional<int64_t> first_context_ns(const WorkerRecord& worker) {
  return worker.context_result == kCudaSuccess ? worker.finished_ns : std::nullopt;
}

const std::array<TimeMeasure, kTimeMeasures>& time_measures() {
  static constexpr std::array<TimeMeasure, kTimeMeasures> kMeasures = {{
      {"span_s", false, span_s},
      {"external_wall_s", false, external_wall_s},
      {"cuinit_p50_ms", false, cuinit_percentile_ms<50>},
      {"cuinit_p95_ms", false, cuinit_percentile_ms<95>},
      {"cuinit_p99_ms", false, cuinit_percentile_ms<99>},
      {"first_context_p50_ms", true, first_context_p50_ms},
  }};
  return kMeasures;
}

}  // namespace rollcall::analysis
