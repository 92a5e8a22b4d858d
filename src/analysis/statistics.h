// The plain figures of a sample: nearest-rank percentiles, mean, sample deviation,
// median. Percentiles of the tables are taken of raw nanoseconds: such a one is always
// a value that was measured, and no floating point stands between them.
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

// The same for any values and any p.
std::optional<double> percentile(std::vector<double> values, double p);

// Of an even number of values the mean of the two in the middle.
std::optional<double> median(std::vector<double> values);

// Mean and sample standard deviation (unset below n = 2).
struct MeanSd {
  int n = 0;
  std::optional<double> mean;
  std::optional<double> sd;
};
MeanSd mean_sd(const std::vector<double>& values);

// "12.345": the time in the given unit with three decimals, rounded half up
// from the integer, never through floating point.
std::string milliseconds_text(int64_t ns);
std::string seconds_text(int64_t ns);

}  // namespace rollcall::analysis
