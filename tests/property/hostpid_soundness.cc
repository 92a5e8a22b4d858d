// The bound of docs/identity.md ("The challenge") against the rule itself, with ranges
// so small that errors do happen: a proof that nothing can contradict is worth little.
// The real rule is measured by bench/challenge_soundness.cc. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "model/challenge_crowd.h"

namespace rollcall::property {
namespace {

using hostpid::ChallengeRule;
using hostpid::Reason;
using model::Crowd;
using model::CrowdSettings;

constexpr uint32_t kAttempts = 20'000;
// A right rule fails a check at this many standard errors once in 150,000 checks.
constexpr double kStandardErrors = 4.5;

struct Case {
  ChallengeRule rule;
  uint32_t neighbours;
};
// choices, winning rounds, rounds at most; neighbours
const Case kCases[] = {
    {{2, 1, 1}, 1}, {{2, 1, 4}, 3}, {{2, 2, 6}, 3},  {{2, 3, 8}, 1},  {{2, 3, 10}, 5},
    {{4, 1, 3}, 2}, {{4, 2, 6}, 4}, {{4, 3, 12}, 5}, {{4, 3, 3}, 20}, {{8, 2, 16}, 2},
};

struct Tally {
  double wrong = 0;
  double right = 0;
  double ambiguous = 0;  // shares
  uint32_t most_rounds = 0;
};

Tally measure(const CrowdSettings& settings, const ChallengeRule& rule, uint64_t seed) {
  Crowd crowd(settings, rule, seed);
  Tally tally;
  for (uint32_t i = 0; i < kAttempts; ++i) {
    const auto result = crowd.attempt();
    tally.most_rounds = std::max(tally.most_rounds, result.rounds);
    const bool found = result.reason == Reason::kNone;
    (found ? crowd.is_own(result.pid) ? tally.right : tally.wrong : tally.ambiguous) += 1.0 / kAttempts;
    EXPECT_TRUE(found || result.reason == Reason::kNoCandidate || result.reason == Reason::kManyCandidates);
  }
  return tally;
}

double standard_error(double share) {
  return std::sqrt(share * (1 - share) / kAttempts);
}

std::string name(const Case& c) {
  return std::to_string(c.rule.choices) + " choices, " + std::to_string(c.rule.winning_rounds) +
         " in a row of " + std::to_string(c.rule.max_rounds) + ", " + std::to_string(c.neighbours) +
         " neighbours";
}

TEST(ChallengeSoundness, InLockstepTheErrorsAreThoseOfTheFormula) {
  for (const Case& c : kCases) {
    const double expected = model::lockstep_error(c.rule, c.neighbours);
    const Tally tally = measure({.neighbours = c.neighbours}, c.rule, 20'240'601);
    EXPECT_NEAR(tally.wrong, expected, kStandardErrors * standard_error(expected)) << name(c);
    EXPECT_GT(tally.wrong, 0) << name(c) << ": a model that cannot show errors shows nothing";
    EXPECT_EQ(tally.right, 0) << name(c);
    EXPECT_LE(expected, model::error_bound(c.rule, c.neighbours)) << name(c);
  }
}

TEST(ChallengeSoundness, ANeighbourThatAlwaysChoosesTheSameIsNoLuckier) {
  for (Case c : kCases) {
    c.neighbours = 1;
    const double expected = model::lockstep_error(c.rule, 1);
    const Tally tally = measure({.neighbours = 1, .constant_choice = true}, c.rule, 20'240'604);
    EXPECT_NEAR(tally.wrong, expected, kStandardErrors * standard_error(expected)) << name(c);
  }
}

TEST(ChallengeSoundness, AtAnyPhaseTheErrorsStayBelowTheBound) {
  for (const uint32_t drift : {1U, 4U, 8U, 16U}) {
    double wrong = 0;
    for (const Case& c : kCases) {
      const Tally tally =
          measure({.neighbours = c.neighbours, .drift_in_16 = drift}, c.rule, 20'240'602 + drift);
      const double bound = std::min(1.0, model::error_bound(c.rule, c.neighbours));
      EXPECT_LE(tally.wrong, bound + kStandardErrors * standard_error(bound))
          << name(c) << ", drift " << drift;
      wrong += tally.wrong;
    }
    EXPECT_GT(wrong, 0) << "drift " << drift;
  }
}

TEST(ChallengeSoundness, AnUndisturbedOwnEntryIsFoundInTheFewestRoundsOrNobodyIs) {
  for (const Case& c : kCases) {
    const Tally tally = measure({.neighbours = c.neighbours, .own_listed = true}, c.rule, 20'240'603);
    // Ambiguous only where a neighbour answered every one of the same rounds.
    const double expected =
        1 - std::pow(1 - std::pow(c.rule.choices, -1.0 * c.rule.winning_rounds), c.neighbours);
    EXPECT_EQ(tally.wrong, 0) << name(c);
    EXPECT_EQ(tally.most_rounds, c.rule.winning_rounds) << name(c);
    EXPECT_NEAR(tally.ambiguous, expected, kStandardErrors * standard_error(expected)) << name(c);
  }
}

TEST(ChallengeSoundness, TheRealRuleMeetsItsTarget) {
  EXPECT_LE(model::error_bound(hostpid::kChallengeRule, 100), 1e-6);
  EXPECT_LE(model::lockstep_error(hostpid::kChallengeRule, 100),
            model::error_bound(hostpid::kChallengeRule, 100));
  // What it would not be without one of its parts.
  EXPECT_GT(model::error_bound({32, 5, 64}, 100), 1e-6);
  EXPECT_GT(model::error_bound({16, 7, 64}, 100), 1e-6);
}

}  // namespace
}  // namespace rollcall::property
