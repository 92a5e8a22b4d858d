// Student's t, on the values or on their logarithms. See intervals.h.
#include "analysis/intervals.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analysis/statistics.h"

namespace rollcall::analysis {
namespace {

// The logarithms, in a sorted order so that sums do not depend on the given one; unset
// if one does not exist.
std::optional<std::vector<double>> logarithms(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    if (!(value > 0)) return std::nullopt;
    result.push_back(std::log(value));
  }
  return result;
}

std::optional<Interval> finite(Interval interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return std::nullopt;
  return interval;
}

bool all_equal(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

double t_for_interval(double degrees_of_freedom) {
  // What cannot be computed becomes NaN, not an exception, and then there is no interval.
  namespace policies = boost::math::policies;
  using Quiet =
      policies::policy<policies::domain_error<policies::ignore_error>,
                       policies::overflow_error<policies::ignore_error>,
                       policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;
  const boost::math::students_t_distribution<double, Quiet> distribution(degrees_of_freedom);
  return boost::math::quantile(distribution, (1 + kConfidence) / 2);
}

std::optional<Interval> t_interval(const std::vector<double>& values) {
  if (values.size() < 2 || all_equal(values)) return std::nullopt;
  const MeanSd sample = mean_sd(values);
  const double n = static_cast<double>(values.size());
  const double half_width = t_for_interval(n - 1) * *sample.sd / std::sqrt(n);
  return finite({*sample.mean - half_width, *sample.mean + half_width});
}

std::optional<Interval> log_t_interval(const std::vector<double>& values) {
  const auto logs = logarithms(values);
  if (!logs || all_equal(values)) return std::nullopt;
  const auto interval = t_interval(*logs);
  if (!interval) return std::nullopt;
  return finite({std::exp(interval->low), std::exp(interval->high)});
}

std::optional<Difference> welch_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2 || (all_equal(a) && all_equal(b))) return std::nullopt;
  const MeanSd of_a = mean_sd(a);
  const MeanSd of_b = mean_sd(b);
  // Variance of each mean; exactly 0 where all values are equal, whatever rounding says.
  const double va = all_equal(a) ? 0 : *of_a.sd * *of_a.sd / static_cast<double>(a.size());
  const double vb = all_equal(b) ? 0 : *of_b.sd * *of_b.sd / static_cast<double>(b.size());
  const double sum = va + vb;
  if (!(sum > 0) || !std::isfinite(sum)) return std::nullopt;
  // By parts of the whole, so that squares of small variances cannot vanish.
  const double degrees = 1 / ((va / sum) * (va / sum) / static_cast<double>(a.size() - 1) +
                              (vb / sum) * (vb / sum) / static_cast<double>(b.size() - 1));
  const double half_width = t_for_interval(degrees) * std::sqrt(sum);
  const double value = *of_a.mean - *of_b.mean;
  const auto interval = finite({value - half_width, value + half_width});
  if (!interval) return std::nullopt;
  return Difference{value, *interval};
}

std::optional<Difference> welch_log_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  if (!logarithms(a) || !logarithms(b)) return std::nullopt;
  if (all_equal(a) && all_equal(b)) return std::nullopt;
  const auto difference = welch_difference(*logarithms(a), *logarithms(b));
  if (!difference) return std::nullopt;
  const auto interval = finite({std::exp(difference->ci95.low), std::exp(difference->ci95.high)});
  if (!interval) return std::nullopt;
  return Difference{std::exp(difference->value), *interval};
}

}  // namespace rollcall::analysis
