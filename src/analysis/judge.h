// The verdict on one measure, from the values of both sides alone.
#pragma once

#include <vector>

#include "analysis/compare.h"

namespace rollcall::analysis {

// Times, by Welch on their logarithms whatever the number of runs.
MeasureComparison judge_times(std::string measure, const std::vector<double>& a,
                              const std::vector<double>& b);

// Shares of a class, each of a run, by Welch on the shares: workers of one run are not
// independent, runs are.
ClassComparison judge_shares(Class value, const std::vector<double>& a, const std::vector<double>& b);

}  // namespace rollcall::analysis
