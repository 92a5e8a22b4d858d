// The bootstrap. Its random numbers come from a generator whose output the standard
// fixes, by a mapping of our own: the distributions of the standard library may differ
// between libraries, and what is derived must be the same everywhere.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "analysis/intervals.h"
#include "analysis/statistics.h"

namespace rollcall::analysis {
namespace {

// Any number would do; it must only stay the same.
constexpr uint64_t kSeed = 20'250'101;

class Draws {
 public:
  // Uniform in [0, n): numbers beyond the last whole multiple of n are drawn again.
  size_t below(size_t n) {
    const uint64_t count = n;
    const uint64_t end = UINT64_MAX - UINT64_MAX % count;
    uint64_t value = generator_();
    while (value >= end) value = generator_();
    return static_cast<size_t>(value % count);
  }

  double mean_of_resample(const std::vector<double>& values) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[below(values.size())];
    return sum / static_cast<double>(values.size());
  }

 private:
  std::mt19937_64 generator_{kSeed};
};

// Which percent of the resamples lie below the interval, for a sample of n: as far out
// as t is beyond the normal quantile, and by sqrt(n/(n-1)) more.
double percent_below(size_t n) {
  const double count = static_cast<double>(n);
  const double reach = t_for_interval(count - 1) * std::sqrt(count / (count - 1));
  return 50 * std::erfc(reach / std::sqrt(2.0));
}

std::optional<Interval> interval_of(std::vector<double> resampled, size_t n) {
  if (!std::all_of(resampled.begin(), resampled.end(), [](double v) { return std::isfinite(v); })) {
    return std::nullopt;
  }
  std::sort(resampled.begin(), resampled.end());
  const double below = percent_below(n);
  return Interval{*percentile(resampled, below), *percentile(std::move(resampled), 100 - below)};
}

}  // namespace

std::optional<Interval> bootstrap_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.size() < 2 || values.front() == values.back()) return std::nullopt;
  Draws draws;
  std::vector<double> means(kResamples);
  for (double& mean : means) mean = draws.mean_of_resample(values);
  return interval_of(std::move(means), values.size());
}

std::optional<Interval> bootstrap_ratio(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a.size() < 2 || b.size() < 2 || !(b.front() > 0)) return std::nullopt;
  if (a.front() == a.back() && b.front() == b.back()) return std::nullopt;
  Draws draws;
  std::vector<double> ratios(kResamples);
  for (double& ratio : ratios) {
    const double above = draws.mean_of_resample(a);
    ratio = above / draws.mean_of_resample(b);
  }
  return interval_of(std::move(ratios), std::min(a.size(), b.size()));
}

}  // namespace rollcall::analysis
