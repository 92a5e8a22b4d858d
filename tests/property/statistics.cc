// Laws of the statistics, for every sample: order does not matter, units do not matter,
// and what cannot be known is empty, never a number that is none.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/estimate.h"
#include "analysis/intervals.h"
#include "evidence/csv.h"
#include "generators.h"

namespace rollcall::property {
namespace {

using analysis::Estimate;
using analysis::Interval;
using Values = std::vector<double>;

// Times from a microsecond to a day, in nanoseconds as they are recorded.
rc::Gen<Values> any_times(size_t least, size_t most) {
  return rc::gen::exec([=] {
    const auto n = *rc::gen::inRange<size_t>(least, most + 1);
    const auto scale = *rc::gen::element<int64_t>(1'000, 1'000'000'000, 86'400'000'000'000);
    const auto times = *rc::gen::container<std::vector<int64_t>>(n, rc::gen::inRange<int64_t>(1, scale));
    Values values;
    for (const int64_t ns : times) values.push_back(static_cast<double>(ns) / 1e9);
    return values;
  });
}

void shuffle(Values& values) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  std::shuffle(values.begin(), values.end(), random);
}

bool same(const Estimate& a, const Estimate& b) {
  return a.n == b.n && a.mean == b.mean && a.sd == b.sd && a.median == b.median && a.ci95 == b.ci95 &&
         a.method == b.method;
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)) + 1e-300;
}
bool close(const std::optional<Interval>& a, const std::optional<Interval>& b, double factor) {
  if (!a || !b) return a.has_value() == b.has_value();
  return close(a->low * factor, b->low) && close(a->high * factor, b->high);
}

TEST(Statistics, DoNotDependOnTheOrderOfRuns) {
  EXPECT_TRUE(rc::check("any permutation gives the same estimate and ratio", [] {
    const Values a = *any_times(0, 12);
    const Values b = *any_times(0, 12);
    Values a2 = a;
    Values b2 = b;
    shuffle(a2);
    shuffle(b2);
    RC_ASSERT(same(analysis::estimate(a), analysis::estimate(a2)));
    const auto ratio = analysis::ratio_of_means(a, b);
    const auto again = analysis::ratio_of_means(a2, b2);
    RC_ASSERT(ratio.value == again.value && ratio.ci95 == again.ci95 && ratio.method == again.method);
  }));
}

TEST(Statistics, DoNotDependOnTheUnit) {
  EXPECT_TRUE(rc::check("all times times k: everything times k, and ratios as they were", [] {
    const Values a = *any_times(2, 12);
    const Values b = *any_times(2, 12);
    // A power of two changes no digit, so that the bootstrap cannot order equal means otherwise.
    const double k = std::ldexp(1.0, *rc::gen::inRange(-20, 21));
    Values a2 = a;
    Values b2 = b;
    for (double& value : a2) value *= k;
    for (double& value : b2) value *= k;
    const Estimate before = analysis::estimate(a);
    const Estimate after = analysis::estimate(a2);
    RC_ASSERT(close(*before.mean * k, *after.mean));
    RC_ASSERT(close(*before.sd * k, *after.sd));
    RC_ASSERT(close(*before.median * k, *after.median));
    RC_ASSERT(close(before.ci95, after.ci95, k));
    RC_ASSERT(close(analysis::ratio_of_means(a, b).ci95, analysis::ratio_of_means(a2, b2).ci95, 1));
    RC_ASSERT(close(*analysis::ratio_of_means(a, b).value, *analysis::ratio_of_means(a2, b2).value));
  }));
}

TEST(Statistics, AnIntervalHoldsWhatItIsOf) {
  EXPECT_TRUE(rc::check("the geometric mean below eight, the arithmetic one from eight on", [] {
    const Values values = *any_times(2, 12);
    const Estimate e = analysis::estimate(values);
    if (!e.ci95) return;
    double logs = 0;
    for (const double value : values) logs += std::log(value);
    const double centre = e.method == analysis::IntervalMethod::kLogT
                              ? std::exp(logs / static_cast<double>(values.size()))
                              : *e.mean;
    RC_ASSERT(e.ci95->low <= centre && centre <= e.ci95->high);
  }));
}

TEST(Statistics, TheRatioOfASampleToItselfIsOneAndInItsInterval) {
  EXPECT_TRUE(rc::check("a against a", [] {
    const Values a = *any_times(2, 12);
    const auto ratio = analysis::ratio_of_means(a, a);
    RC_ASSERT(ratio.value == 1);
    if (ratio.ci95) RC_ASSERT(ratio.ci95->low <= 1 && 1 <= ratio.ci95->high);
  }));
}

TEST(Statistics, ASharesIntervalIsOfShares) {
  EXPECT_TRUE(rc::check("0 <= low <= high <= 1", [] {
    const int workers = *rc::gen::inRange(1, 10);
    const auto n = *rc::gen::inRange<size_t>(0, 12);
    Values shares;
    for (size_t i = 0; i < n; ++i)
      shares.push_back(static_cast<double>(*rc::gen::inRange(0, workers + 1)) / workers);
    const Estimate e = analysis::estimate_share(shares, static_cast<int>(n) * workers);
    RC_ASSERT((e.method == analysis::IntervalMethod::kNone) == !e.ci95.has_value());
    if (!e.ci95) return;
    RC_ASSERT(0 <= e.ci95->low && e.ci95->low <= e.ci95->high && e.ci95->high <= 1);
  }));
}

TEST(Statistics, NoCellIsANumberThatIsNone) {
  EXPECT_TRUE(rc::check("every numeric cell is empty or finite, whatever the records say", [] {
    const auto runs =
        *rc::gen::container<std::vector<evidence::Run>>(*rc::gen::inRange<size_t>(0, 5), any_run());
    const auto rows = evidence::parse_csv(analysis::statistics_csv(runs), "statistics.csv").value();
    for (size_t i = 1; i < rows.size(); ++i) {
      RC_ASSERT(rows[i].size() == rows[0].size());
      for (size_t column = 3; column < 12; ++column) {
        const std::string& cell = rows[i][column];
        RC_ASSERT(cell.find_first_not_of("-.0123456789") == std::string::npos);
        if (rows[i][3] == "0") RC_ASSERT(column == 3 || cell.empty());
      }
    }
  }));
}

TEST(Statistics, NoNumberOfASampleIsNone) {
  EXPECT_TRUE(rc::check("any doubles at all", [] {
    const auto values = *rc::gen::container<Values>(rc::gen::arbitrary<double>());
    const auto others = *rc::gen::container<Values>(rc::gen::arbitrary<double>());
    const auto finite = [](const std::optional<double>& value) { return !value || std::isfinite(*value); };
    const auto sound = [](const std::optional<Interval>& ci) {
      return !ci || (std::isfinite(ci->low) && std::isfinite(ci->high) && ci->low <= ci->high);
    };
    const Estimate e = analysis::estimate(values);
    RC_ASSERT(finite(e.mean) && finite(e.sd) && finite(e.median) && sound(e.ci95));
    const auto ratio = analysis::ratio_of_means(values, others);
    RC_ASSERT(finite(ratio.value) && sound(ratio.ci95));
  }));
}

}  // namespace
}  // namespace rollcall::property
