// One sample: which figures it has, which interval, and when there is none.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/estimate.h"
#include "analysis/intervals.h"

namespace rollcall::analysis {
namespace {

using Values = std::vector<double>;

double geometric_mean(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

TEST(Estimate, OfNothingSaysNothing) {
  const Estimate none = estimate({});
  EXPECT_EQ(none.n, 0);
  EXPECT_FALSE(none.mean || none.sd || none.median || none.ci95);
  EXPECT_EQ(none.method, IntervalMethod::kNone);
}

TEST(Estimate, OfOneHasNoScatter) {
  const Estimate one = estimate({3});
  EXPECT_EQ(one.mean, 3);
  EXPECT_EQ(one.median, 3);
  EXPECT_FALSE(one.sd || one.ci95);
  EXPECT_TRUE(one.few());
}

TEST(Estimate, OfTwoHasADeviationAndAnInterval) {
  const Estimate two = estimate({2, 8});
  EXPECT_EQ(two.mean, 5);
  EXPECT_EQ(two.median, 5);
  EXPECT_NEAR(*two.sd, 4.242640687, 1e-9);
  // t(0.975, 1) = 12.7062; SD of the logarithms ln(4)/sqrt(2), of their mean ln(4)/2.
  EXPECT_NEAR(two.ci95->high, 4 * std::exp(12.706204736 * std::log(4) / 2), 1e-2);
  EXPECT_NEAR(two.ci95->low, 4 / std::exp(12.706204736 * std::log(4) / 2), 1e-8);
}

TEST(Estimate, BelowEightItIsStudentsTOfTheLogarithms) {
  const Estimate three = estimate({std::exp(1.0), std::exp(2.0), std::exp(3.0)});
  EXPECT_EQ(three.method, IntervalMethod::kLogT);
  // t(0.975, 2) = 4.302653; SD of the logarithms 1.
  EXPECT_NEAR(std::log(three.ci95->low), 2 - 4.302652730 / std::sqrt(3.0), 1e-8);
  EXPECT_NEAR(std::log(three.ci95->high), 2 + 4.302652730 / std::sqrt(3.0), 1e-8);
  EXPECT_EQ(estimate({1, 2, 3, 4, 5, 6, 7}).method, IntervalMethod::kLogT);
}

TEST(Estimate, FromEightOnItIsTheBootstrapOfTheMean) {
  const Estimate eight = estimate({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(eight.method, IntervalMethod::kBootstrap);
  // About mean ± t(0.975, 7) · SD/sqrt(8), which is 2.05.
  EXPECT_NEAR(eight.ci95->low, 4.5 - 2.05, 0.25);
  EXPECT_NEAR(eight.ci95->high, 4.5 + 2.05, 0.25);
  EXPECT_EQ(estimate({1, 2, 3, 4, 5, 6, 7, 8}).ci95, eight.ci95) << "the seed is fixed";
}

TEST(Estimate, TheBootstrapIsTheSameOnEveryMachine) {
  const Estimate golden = estimate({10, 11, 12, 13, 14, 15, 16, 17, 18, 29});
  EXPECT_DOUBLE_EQ(golden.ci95->low, 12.4);
  EXPECT_DOUBLE_EQ(golden.ci95->high, 19.9);
}

TEST(Estimate, AValueThatHasNoLogarithmLeavesNoInterval) {
  EXPECT_FALSE(estimate({0, 1, 2}).ci95);
  EXPECT_FALSE(estimate({-1, 1, 2}).ci95);
  EXPECT_EQ(estimate({0, 1, 2}).method, IntervalMethod::kNone);
  EXPECT_EQ(estimate({0, 1, 2}).mean, 1) << "the other figures stay";
}

TEST(Estimate, WhereAllValuesAreEqualTheirScatterIsNotKnown) {
  for (const size_t n : {2U, 5U, 8U, 20U}) {
    const Estimate equal = estimate(Values(n, 17.9));
    EXPECT_NEAR(*equal.sd, 0, 1e-12);
    EXPECT_FALSE(equal.ci95) << "an interval of no width would claim that there is none";
  }
}

TEST(Estimate, WhatIsNoNumberIsNotCountedWith) {
  const Estimate broken = estimate({1, NAN, 3});
  EXPECT_EQ(broken.n, 3);
  EXPECT_FALSE(broken.mean || broken.sd || broken.median || broken.ci95);
  const Estimate huge = estimate({1e308, 1.5e308});
  EXPECT_TRUE(!huge.mean || std::isfinite(*huge.mean));
  EXPECT_TRUE(!huge.sd || std::isfinite(*huge.sd));
}

TEST(Estimate, FewIsBelowFive) {
  EXPECT_TRUE(estimate({1, 2, 3, 4}).few());
  EXPECT_FALSE(estimate({1, 2, 3, 4, 5}).few());
}

TEST(Share, OfRunsThatDifferIsStudentsTCutToWhatAShareCanBe) {
  const Estimate share = estimate_share({0.9, 1.0, 0.95}, 30);
  EXPECT_EQ(share.method, IntervalMethod::kT);
  EXPECT_NEAR(share.ci95->low, 0.95 - 4.302652730 * 0.05 / std::sqrt(3.0), 1e-8);
  EXPECT_EQ(share.ci95->high, 1);
  EXPECT_EQ(estimate_share({0.01, 0, 0}, 30).ci95->low, 0);
  EXPECT_EQ(estimate_share({.1, .2, .3, .4, .5, .6, .7, .8}, 80).method, IntervalMethod::kBootstrap);
}

TEST(Share, NeverSeenIsBoundedByThreeInN) {
  const Estimate never = estimate_share({0, 0, 0}, 750);
  EXPECT_EQ(never.method, IntervalMethod::kRuleOfThree);
  EXPECT_EQ(never.ci95, (Interval{0, 0.004}));
  EXPECT_EQ(estimate_share({0}, 750).ci95, never.ci95) << "it is of workers, not of runs";
  EXPECT_EQ(estimate_share({0, 0}, 2).ci95, (Interval{0, 1}));
  EXPECT_EQ(estimate_share(Values(20, 0), 300).ci95, (Interval{0, 0.01}));
}

TEST(Share, AlwaysSeenIsBoundedFromBelow) {
  const Estimate always = estimate_share({1, 1, 1}, 750);
  EXPECT_EQ(always.method, IntervalMethod::kRuleOfThree);
  EXPECT_EQ(always.ci95, (Interval{1 - 0.004, 1}));
}

TEST(Share, OfOneRunOrOfEqualRunsHasNoInterval) {
  EXPECT_FALSE(estimate_share({0.5}, 10).ci95);
  EXPECT_FALSE(estimate_share({0.5, 0.5, 0.5}, 30).ci95);
  EXPECT_FALSE(estimate_share({}, 0).ci95);
  EXPECT_FALSE(estimate_share({}, 0).mean);
}

TEST(RatioOfMeans, IsOfTheArithmeticMeans) {
  const Ratio ratio = ratio_of_means({87.55, 89.91, 92.27}, {17.78, 17.91, 18.04});
  EXPECT_NEAR(*ratio.value, 89.91 / 17.91, 1e-12);
  EXPECT_EQ(ratio.method, IntervalMethod::kLogT);
  // Welch on the logarithms, computed apart: 2.304 degrees of freedom.
  EXPECT_NEAR(ratio.ci95->low, 4.727724, 1e-6);
  EXPECT_NEAR(ratio.ci95->high, 5.328296, 1e-6);
}

TEST(RatioOfMeans, WelchGivesEachSideItsOwnVariance) {
  const Ratio ratio = ratio_of_means({std::exp(1.0), std::exp(2.0), std::exp(3.0)},
                                     {std::exp(0.0), std::exp(4.0), std::exp(2.0), std::exp(2.0)});
  // Variances of the means 1/3 and (8/3)/4 = 2/3; degrees 1/((1/9)/2 + (4/9)/3) = 4.909;
  // t(0.975, 4.909) = 2.584966.
  EXPECT_NEAR(std::log(ratio.ci95->high), 2.584966, 1e-6);
  EXPECT_NEAR(std::log(ratio.ci95->low), -2.584966, 1e-6);
}

TEST(RatioOfMeans, IsBootstrappedOnlyWhereBothSidesHaveEight) {
  const Values eight = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(ratio_of_means(eight, eight).method, IntervalMethod::kBootstrap);
  EXPECT_EQ(ratio_of_means(eight, {1, 2, 3}).method, IntervalMethod::kLogT);
  EXPECT_LT(ratio_of_means(eight, eight).ci95->low, 1);
  EXPECT_GT(ratio_of_means(eight, eight).ci95->high, 1);
}

TEST(RatioOfMeans, IsUnsetWhereASideIsMissingOrHasNoTime) {
  EXPECT_FALSE(ratio_of_means({}, {1}).value);
  EXPECT_FALSE(ratio_of_means({1}, {}).value);
  EXPECT_FALSE(ratio_of_means({1}, {0}).value);
  EXPECT_FALSE(ratio_of_means({1}, {-1}).value);
  EXPECT_FALSE(ratio_of_means({1}, {NAN}).value);
  EXPECT_FALSE(ratio_of_means({1, 2}, {3}).ci95) << "one run has no scatter";
  EXPECT_TRUE(ratio_of_means({1, 2}, {3}).value);
  EXPECT_FALSE(ratio_of_means({2, 2}, {3, 3}).ci95);
  EXPECT_TRUE(ratio_of_means({2, 2}, {3, 4}).ci95);
  EXPECT_FALSE(ratio_of_means({0, 2}, {3, 4}).ci95) << "no logarithm";
}

std::vector<std::string> named(const Values& values) {
  std::vector<std::pair<std::string, double>> runs;
  for (const double value : values) runs.emplace_back(std::to_string(runs.size() + 1), value);
  std::vector<std::string> result;
  for (const Outlier& outlier : outliers(runs)) result.push_back(outlier.run_id);
  return result;
}

TEST(Outliers, LieBeyondThreeTimesTheSpreadOfTheHinges) {
  using Names = std::vector<std::string>;
  // Hinges 11 and 13: the fences are 5 and 19.
  EXPECT_EQ(named({10, 11, 12, 13, 19}), Names{});
  EXPECT_EQ(named({10, 11, 12, 13, 19.1}), Names{"5"});
  EXPECT_EQ(named({4.9, 11, 12, 13, 14}), Names{"1"});
  EXPECT_EQ(named({40, 10, 11, 12, 13, 14, -30}), (Names{"1", "7"})) << "in the order of the runs";
  // Of six the halves are disjoint: hinges 11 and 14, fences 2 and 23.
  EXPECT_EQ(named({10, 11, 12, 13, 14, 23}), Names{});
  EXPECT_EQ(named({10, 11, 12, 13, 14, 23.1}), Names{"6"});
}

TEST(Outliers, NobodyIsApartFromFewerThanFive) {
  EXPECT_TRUE(named({10, 10.1, 10.2, 1000}).empty());
  EXPECT_TRUE(named({}).empty());
}

TEST(Outliers, WhereMostAreEqualTheOtherIsApart) {
  EXPECT_EQ(named({0, 0, 0, 0, 0.004}), std::vector<std::string>{"5"});
}

// How often the interval holds what it is of: the geometric mean below eight, the mean
// from eight on. Log-normal times whose SD is about a fifth of the mean.
double coverage(size_t n, int samples) {
  constexpr double kSigma = 0.2;
  std::mt19937_64 random(n);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0; };
  const auto normal = [&] { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); };
  const double truth = n < static_cast<size_t>(kBootstrapFrom) ? 1 : std::exp(kSigma * kSigma / 2);
  int held = 0;
  for (int i = 0; i < samples; ++i) {
    Values values;
    for (size_t k = 0; k < n; ++k) values.push_back(std::exp(kSigma * normal()));
    const auto interval = estimate(values).ci95;
    if (interval && interval->low <= truth && truth <= interval->high) ++held;
  }
  return static_cast<double>(held) / samples;
}

TEST(Coverage, OfTheIntervalsIsWhatTheyClaim) {
  for (const size_t n : {3U, 5U}) {
    EXPECT_GT(coverage(n, 4000), 0.935) << n;
    EXPECT_LT(coverage(n, 4000), 0.965) << n;
  }
  for (const size_t n : {8U, 20U}) {
    EXPECT_GT(coverage(n, 300), 0.90) << n;
    EXPECT_LT(coverage(n, 300), 0.99) << n;
  }
}

TEST(Interval, BelowEightHoldsTheGeometricMean) {
  const Values values = {3, 1, 4, 1.5, 9};
  const Estimate five = estimate(values);
  EXPECT_LT(five.ci95->low, geometric_mean(values));
  EXPECT_GT(five.ci95->high, geometric_mean(values));
}

}  // namespace
}  // namespace rollcall::analysis
