// The times of a run that are derived from several raw ones.
#pragma once

#include <cstdint>
#include <optional>

#include "evidence/records.h"

namespace rollcall::analysis {

// Gate opened → last worker finished its workload. Unset unless all workers
// finished: the largest of those that did would be too small. Of an imported run whose workers
// were not timed, the longest span of its caches' benchmarks: the harness opens a gate for each
// cache, so that the run as a whole may have taken longer, but none of its caches did.
std::optional<int64_t> span_ns(const evidence::Run& run);

// What the workload's own benchmark says of the run: empty unless there is exactly one line
// for each cache. Where workers have times of their own, those are better.
struct BenchmarkTotals {
  int64_t ok = 0;
  int64_t failed = 0;
  std::optional<int64_t> span_ns;        // the longest of the caches; each counts from its own gate
  std::optional<int64_t> cuinit_max_ns;  // the longest; unset if some call failed: its time may be among them
};
std::optional<BenchmarkTotals> benchmark_totals(const evidence::RunRecord& record);

// First fork → last worker gone, less the time for collecting evidence after
// the last worker had finished. What a person stated where nothing was measured; unset
// where there is neither.
std::optional<int64_t> external_wall_ns(const evidence::RunRecord& record);

}  // namespace rollcall::analysis
