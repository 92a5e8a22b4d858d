// Nearest-rank percentiles of raw nanoseconds: a percentile of the tables is
// always a value that was measured, and no floating point stands between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rollcall::analysis {

// The value at rank ceil(percent/100 · n), from 1, of the sorted values. Unset
// for an empty list. 0 < percent <= 100.
std::optional<int64_t> percentile_ns(std::vector<int64_t> values, int percent);

// "12.345": the time in the given unit with three decimals, rounded half up
// from the integer, never through floating point.
std::string milliseconds_text(int64_t ns);
std::string seconds_text(int64_t ns);

}  // namespace rollcall::analysis
