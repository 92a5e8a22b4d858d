// Which interval a sample gets, by its size. See estimate.h and docs/evidence.md.
#include "analysis/estimate.h"

#include <algorithm>
#include <cmath>

#include "analysis/intervals.h"
#include "analysis/statistics.h"

namespace rollcall::analysis {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// n, mean, SD and median, of sorted values: a sum must not depend on the order.
Estimate figures_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const MeanSd figures = mean_sd(values);
  Estimate result;
  result.n = figures.n;
  result.mean = figures.mean;
  result.sd = figures.sd;
  result.median = median(values);
  if (result.mean && !std::isfinite(*result.mean)) result.mean.reset();
  if (result.sd && !std::isfinite(*result.sd)) result.sd.reset();
  return result;
}

Estimate nothing_known(size_t n) {
  Estimate result;
  result.n = static_cast<int>(n);
  return result;
}

}  // namespace

std::string_view to_text(IntervalMethod value) {
  switch (value) {
    case IntervalMethod::kNone:
      return "";
    case IntervalMethod::kLogT:
      return "log-t";
    case IntervalMethod::kBootstrap:
      return "bootstrap";
    case IntervalMethod::kT:
      return "t";
    case IntervalMethod::kRuleOfThree:
      return "rule-of-three";
  }
  return "";
}

Estimate estimate(std::vector<double> values) {
  if (!all_finite(values)) return nothing_known(values.size());
  Estimate result = figures_of(values);
  const bool many = result.n >= kBootstrapFrom;
  result.ci95 = many ? bootstrap_mean(values) : log_t_interval(values);
  if (result.ci95) result.method = many ? IntervalMethod::kBootstrap : IntervalMethod::kLogT;
  return result;
}

Estimate estimate_share(std::vector<double> values, int workers) {
  if (!all_finite(values)) return nothing_known(values.size());
  Estimate result = figures_of(values);
  if (values.empty()) return result;
  const bool never = values.back() <= 0;
  const bool always = values.front() >= 1;
  if (never || always) {
    if (workers <= 0) return result;
    const double bound = std::min(1.0, 3.0 / workers);
    result.ci95 = never ? Interval{0, bound} : Interval{1 - bound, 1};
    result.method = IntervalMethod::kRuleOfThree;
    return result;
  }
  const bool many = result.n >= kBootstrapFrom;
  result.ci95 = many ? bootstrap_mean(values) : t_interval(values);
  if (!result.ci95) return result;
  result.ci95 = Interval{std::max(0.0, result.ci95->low), std::min(1.0, result.ci95->high)};
  result.method = many ? IntervalMethod::kBootstrap : IntervalMethod::kT;
  return result;
}

Ratio ratio_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  Ratio result;
  if (!all_finite(a) || !all_finite(b)) return result;
  std::vector<double> above = a;
  std::vector<double> below = b;
  const Estimate of_a = figures_of(above);
  const Estimate of_b = figures_of(below);
  if (!of_a.mean || of_b.mean.value_or(0) <= 0) return result;
  const double value = *of_a.mean / *of_b.mean;
  if (!std::isfinite(value)) return result;
  result.value = value;
  if (std::min(of_a.n, of_b.n) >= kBootstrapFrom) {
    result.ci95 = bootstrap_ratio(above, below);
    if (result.ci95) result.method = IntervalMethod::kBootstrap;
  } else if (const auto ratio = welch_log_ratio(above, below)) {
    result.ci95 = ratio->ci95;
    result.method = IntervalMethod::kLogT;
  }
  return result;
}

}  // namespace rollcall::analysis
