// 95 % intervals of means and ratios. Times of runs are positive and skewed to the
// right, so that with few of them Student's t is taken of their logarithms: what it
// says is then of the geometric mean. From kBootstrapFrom values on a bootstrap says
// something of the arithmetic mean itself.
//
// No interval where there are fewer than two values, where a logarithm is needed of
// one that is not positive, and where all values are equal: how far they scatter is
// then not known, and a width of zero would claim that they do not.
#pragma once

#include <optional>
#include <vector>

#include "analysis/estimate.h"

namespace rollcall::analysis {

inline constexpr double kConfidence = 0.95;

// Quantile of Student's t for a two-sided interval; degrees of freedom above 0.
double t_for_interval(double degrees_of_freedom);

// Student's t of the mean, of the values as they are.
std::optional<Interval> t_interval(const std::vector<double>& values);
// Student's t of the logarithms, taken back.
std::optional<Interval> log_t_interval(const std::vector<double>& values);

// mean(a) - mean(b) with unequal variances: Welch's t with the degrees of freedom of
// Satterthwaite. At least two values a side, and some scatter in one of them.
struct Difference {
  double value = 0;
  Interval ci95;
};
std::optional<Difference> welch_difference(const std::vector<double>& a, const std::vector<double>& b);
// The same of the logarithms, taken back: the ratio of the geometric means, a over b.
std::optional<Difference> welch_log_ratio(const std::vector<double>& a, const std::vector<double>& b);

// Percentile bootstrap of the arithmetic mean, and of the ratio of two, a over b (all of
// b must be positive). A fixed seed and the values' sorted order: the same values give
// the same interval. Its percentiles are taken further out than 2.5 and 97.5, because a
// sample of n spreads less than what it was drawn from: Hesterberg, "What Teachers Should
// Know About the Bootstrap", The American Statistician 69 (2015), section 4.
std::optional<Interval> bootstrap_mean(std::vector<double> values);
std::optional<Interval> bootstrap_ratio(std::vector<double> a, std::vector<double> b);

// Resamples of a bootstrap. An end of the interval then varies by less than a tenth of
// its half width if another seed is taken.
inline constexpr int kResamples = 4000;

}  // namespace rollcall::analysis
