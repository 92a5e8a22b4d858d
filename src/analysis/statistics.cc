// Means, deviations and percentiles. The rank of a percentile is computed with
// the product first: p/100·n would make the 7th percentile of 100 values the
// eighth value, because 0.07 has no exact binary form.
#include "analysis/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/clock.h"

namespace rollcall::analysis {
namespace {

template <typename T>
T at_rank(std::vector<T>& values, size_t rank) {
  rank = std::clamp<size_t>(rank, 1, values.size());
  const auto position = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), position, values.end());
  return *position;
}

std::string thousandths_text(int64_t value, int64_t per_thousandth) {
  int64_t whole = value / per_thousandth;
  int64_t rest = value % per_thousandth;
  if (rest < 0) {
    rest += per_thousandth;
    --whole;
  }
  if (rest >= per_thousandth - rest) ++whole;
  const auto magnitude = whole < 0 ? 0 - static_cast<uint64_t>(whole) : static_cast<uint64_t>(whole);
  return fmt::format("{}{}.{:03}", whole < 0 ? "-" : "", magnitude / 1000, magnitude % 1000);
}

}  // namespace

std::optional<int64_t> percentile_ns(std::vector<int64_t> values, int percent) {
  if (values.empty()) return std::nullopt;
  return at_rank(values, (static_cast<size_t>(percent) * values.size() + 99) / 100);
}

std::optional<double> percentile(std::vector<double> values, double p) {
  if (values.empty()) return std::nullopt;
  // A fractional p may make the product a hair too large: ranks are whole
  // numbers, so a hair is no rank.
  constexpr double kHair = 1e-9;
  const double rank = std::ceil(p * static_cast<double>(values.size()) / 100 - kHair);
  return at_rank(values, rank < 1 ? 1 : static_cast<size_t>(rank));
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const size_t half = values.size() / 2;
  const double upper = at_rank(values, half + 1);
  if (values.size() % 2 == 1) return upper;
  const double lower = at_rank(values, half);
  return lower + (upper - lower) / 2;
}

std::string milliseconds_text(int64_t ns) {
  return thousandths_text(ns, base::kNsPerMs / 1000);
}

std::string seconds_text(int64_t ns) {
  return thousandths_text(ns, base::kNsPerSecond / 1000);
}

MeanSd mean_sd(const std::vector<double>& values) {
  MeanSd result;
  result.n = static_cast<int>(values.size());
  if (values.empty()) return result;
  const double n = static_cast<double>(values.size());
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - *result.mean) * (value - *result.mean);
  result.sd = std::sqrt(squares / (n - 1));
  return result;
}

}  // namespace rollcall::analysis
