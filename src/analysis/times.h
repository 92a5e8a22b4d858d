// The times of a run that are derived from several raw ones.
#pragma once

#include <cstdint>
#include <optional>

#include "evidence/records.h"

namespace rollcall::analysis {

// Gate opened → last worker finished its workload. Unset unless all workers
// finished: the largest of those that did would be too small.
std::optional<int64_t> span_ns(const evidence::Run& run);

// First fork → last worker gone, less the time for collecting evidence after
// the last worker had finished. What a person stated where nothing was measured; unset
// where there is neither.
std::optional<int64_t> external_wall_ns(const evidence::RunRecord& record);

}  // namespace rollcall::analysis
