// Values that lie far from the others of their condition. The rule is Tukey's outer
// fences (Exploratory Data Analysis, 1977): beyond three times the spread of the hinges.
// His inner ones, at 1.5, would name somebody in a third of all samples of five where
// nothing is wrong; the outer ones do in one of seven, and in one of fifty from eight on.
#include <algorithm>

#include "analysis/estimate.h"
#include "analysis/statistics.h"

namespace rollcall::analysis {

std::vector<Outlier> outliers(const std::vector<std::pair<std::string, double>>& values) {
  constexpr size_t kFewest = 5;
  constexpr double kFence = 3;
  if (values.size() < kFewest) return {};
  std::vector<double> sorted;
  for (const auto& [run_id, value] : values) sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end());
  // A hinge is the median of a half; of an odd number the middle one is in both halves.
  const auto half = static_cast<std::ptrdiff_t>((sorted.size() + 1) / 2);
  const double lower = *median({sorted.begin(), sorted.begin() + half});
  const double upper = *median({sorted.end() - half, sorted.end()});
  const double reach = kFence * (upper - lower);
  std::vector<Outlier> result;
  for (const auto& [run_id, value] : values) {
    if (value < lower - reach || value > upper + reach) result.push_back({run_id, value});
  }
  return result;
}

}  // namespace rollcall::analysis
