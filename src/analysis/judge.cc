// One rule for both: on a scale where no change is 0, "same" is an interval within the
// margin, a change one that does not hold 0, and everything else is unclear. So a small
// change that is sure is still called the same; and what is merely not significant is not.
#include "analysis/judge.h"

#include <algorithm>
#include <cmath>

#include "analysis/intervals.h"
#include "analysis/statistics.h"

namespace rollcall::analysis {
namespace {

using Values = std::vector<double>;

enum class Direction { kSame, kLess, kGreater, kUnclear };

Direction direction_of(const Interval& interval, double margin) {
  if (-margin <= interval.low && interval.high <= margin) return Direction::kSame;
  if (interval.low > 0) return Direction::kGreater;
  if (interval.high < 0) return Direction::kLess;
  return Direction::kUnclear;
}

double sum_of_squares(const Values& values) {
  const MeanSd sample = mean_sd(values);
  return sample.sd ? *sample.sd * *sample.sd * static_cast<double>(values.size() - 1) : 0;
}

// How many runs a side would tell. The interval of n runs a side reaches t(2n-2)·s·sqrt(2/n)
// to both sides, s being the pooled SD. It tells if it is too short to reach from the effect
// to 0 (a change), or beyond the margin (the same).
std::optional<int> runs_needed(const Values& a, const Values& b, double margin) {
  const auto degrees = static_cast<double>(a.size() + b.size()) - 2;
  if (a.empty() || b.empty() || degrees < 1) return std::nullopt;
  const double pooled_sd = std::sqrt((sum_of_squares(a) + sum_of_squares(b)) / degrees);
  const double effect = std::abs(*mean_sd(b).mean - *mean_sd(a).mean);
  if (!(pooled_sd > 0) || !std::isfinite(pooled_sd) || !std::isfinite(effect)) return std::nullopt;
  const double reach = std::max(effect, margin - effect);
  // As many as there are were not enough.
  const int have = static_cast<int>(std::max(a.size(), b.size()));
  const bool enough_to_judge = static_cast<int>(std::min(a.size(), b.size())) >= kFewRuns;
  for (int n = std::max(kFewRuns, enough_to_judge ? have + 1 : 0); n <= kMostRunsAdvised; ++n) {
    if (t_for_interval(2.0 * n - 2) * pooled_sd * std::sqrt(2.0 / n) <= reach) return n;
  }
  return kMostRunsAdvised + 1;
}

std::optional<Values> logarithms(Values values) {
  for (double& value : values) {
    if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
    value = std::log(value);
  }
  return values;
}

bool few(const Values& a, const Values& b) {
  return static_cast<int>(std::min(a.size(), b.size())) < kFewRuns;
}

// What is said of a sample must not depend on the order of its runs.
Values sorted(Values values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

MeasureComparison judge_times(std::string measure, const Values& a, const Values& b) {
  MeasureComparison result;
  result.measure = std::move(measure);
  result.a = estimate(a);
  result.b = estimate(b);
  const auto unclear = [&](UnclearReason reason) {
    result.reason = reason;
    return result;
  };
  if (a.empty() || b.empty()) return unclear(UnclearReason::kNoValue);
  const auto log_a = logarithms(sorted(a));
  const auto log_b = logarithms(sorted(b));
  if (!log_a || !log_b) return unclear(UnclearReason::kNoLogarithm);
  const double margin = std::log1p(kSameWithin);
  result.ratio = std::exp(*mean_sd(*log_b).mean - *mean_sd(*log_a).mean);
  if (!std::isfinite(*result.ratio)) result.ratio.reset();
  const auto welch = welch_difference(*log_b, *log_a);
  if (welch) {
    const Interval ci95 = {std::exp(welch->ci95.low), std::exp(welch->ci95.high)};
    if (std::isfinite(ci95.high)) result.ci95 = ci95;
  }
  if (few(a, b)) {
    result.runs_needed = runs_needed(*log_a, *log_b, margin).value_or(kFewRuns);
    return unclear(UnclearReason::kTooFewRuns);
  }
  if (!welch) return unclear(UnclearReason::kNoScatter);
  switch (direction_of(welch->ci95, margin)) {
    case Direction::kSame:
      result.verdict = Verdict::kSame;
      return result;
    case Direction::kLess:
      result.verdict = Verdict::kFaster;
      return result;
    case Direction::kGreater:
      result.verdict = Verdict::kSlower;
      return result;
    case Direction::kUnclear:
      break;
  }
  result.runs_needed = runs_needed(*log_a, *log_b, margin);
  return unclear(UnclearReason::kWide);
}

ClassComparison judge_shares(Class value, const Values& a, const Values& b) {
  ClassComparison result;
  result.value = value;
  const auto unclear = [&](UnclearReason reason) {
    result.reason = reason;
    return result;
  };
  if (a.empty() || b.empty()) return unclear(UnclearReason::kNoValue);
  const Values in_a = sorted(a);
  const Values in_b = sorted(b);
  result.difference = *mean_sd(in_b).mean - *mean_sd(in_a).mean;
  const auto welch = welch_difference(in_b, in_a);
  if (welch) {
    result.ci95 = Interval{std::max(-1.0, welch->ci95.low), std::min(1.0, welch->ci95.high)};
  }
  if (few(a, b)) {
    result.runs_needed = runs_needed(in_a, in_b, kSameShareWithin).value_or(kFewRuns);
    return unclear(UnclearReason::kTooFewRuns);
  }
  // Without scatter on both sides there is no interval; but chance deals ten runs so that five
  // of one share stand against five of another in only 2 of 252 ways.
  const Interval interval = welch ? welch->ci95 : Interval{*result.difference, *result.difference};
  // A class that occurs on one side alone is not the same on both, however rare it is.
  const bool one_sided = (in_a.back() > 0) != (in_b.back() > 0);
  switch (direction_of(interval, one_sided ? 0 : kSameShareWithin)) {
    case Direction::kSame:
      result.verdict = Verdict::kSame;
      return result;
    case Direction::kLess:
      result.verdict = Verdict::kFewer;
      return result;
    case Direction::kGreater:
      result.verdict = Verdict::kMore;
      return result;
    case Direction::kUnclear:
      break;
  }
  result.runs_needed = runs_needed(in_a, in_b, one_sided ? 0 : kSameShareWithin);
  return unclear(UnclearReason::kWide);
}

}  // namespace rollcall::analysis
