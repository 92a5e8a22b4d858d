// The challenge with its real rule, its own entry missing, among neighbours that
// challenge back to back: how often does it claim somebody else? Not a benchmark of
// time: it is here because millions of attempts want an optimised build.
//
//   challenge_soundness [ATTEMPTS [NEIGHBOURS [SEED [THREADS]]]]
//
// ATTEMPTS are made for each model of the neighbours. Exit status 1: one was wrong.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "model/challenge_crowd.h"

namespace {

using namespace rollcall;

struct Tally {
  uint64_t wrong = 0;
  uint64_t many = 0;
  uint64_t rounds = 0;
};

void attempt(const model::CrowdSettings& settings, uint64_t attempts, uint64_t seed, Tally* tally) {
  model::Crowd crowd(settings, hostpid::kChallengeRule, seed);
  Tally own;
  for (uint64_t i = 0; i < attempts; ++i) {
    const hostpid::ChallengeResult result = crowd.attempt();
    own.rounds += result.rounds;
    if (result.reason == hostpid::Reason::kNone) ++own.wrong;
    if (result.reason == hostpid::Reason::kManyCandidates) ++own.many;
  }
  *tally = own;
}

uint64_t number(int argc, char** argv, int at, uint64_t otherwise) {
  return argc > at ? strtoull(argv[at], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t attempts = number(argc, argv, 1, 3'000'000);
  const auto neighbours = static_cast<uint32_t>(number(argc, argv, 2, 100));
  const uint64_t seed = number(argc, argv, 3, 1);
  const uint64_t threads = number(argc, argv, 4, 2);
  if (attempts == 0 || neighbours >= hostpid::kMaxListed || threads == 0 || threads > 256) {
    fprintf(stderr,
            "usage: challenge_soundness [ATTEMPTS [NEIGHBOURS below %zu [SEED [THREADS up to 256]]]]\n",
            hostpid::kMaxListed);
    return 2;
  }
  const hostpid::ChallengeRule& rule = hostpid::kChallengeRule;
  printf("%u choices, %u in a row of at most %u rounds, %u neighbours, own entry missing, seed %" PRIu64 "\n",
         rule.choices, rule.winning_rounds, rule.max_rounds, neighbours, seed);
  printf("by argument: at most %.2g wrong\n", model::error_bound(rule, neighbours));

  const struct {
    const char* name;
    uint32_t drift_in_16;
  } models[] = {{"lockstep", 0}, {"drifting", 1}, {"random phase", 8}};
  bool any_wrong = false;
  for (const auto& m : models) {
    std::vector<Tally> tallies(threads);
    std::vector<std::thread> running;
    for (uint64_t t = 0; t < threads; ++t) {
      const uint64_t share = attempts / threads + (t < attempts % threads ? 1 : 0);
      const model::CrowdSettings settings{
          .neighbours = neighbours, .own_listed = false, .drift_in_16 = m.drift_in_16};
      // Far apart in the generator's one cycle, and never the same for two models.
      const uint64_t own_seed = (seed << 32) + (uint64_t{m.drift_in_16} << 16) + t;
      running.emplace_back(attempt, settings, share, model::Random(own_seed).next(), &tallies[t]);
    }
    for (std::thread& thread : running) thread.join();
    Tally all;
    for (const Tally& tally : tallies) {
      all.wrong += tally.wrong;
      all.many += tally.many;
      all.rounds += tally.rounds;
    }
    printf("%-12s  %" PRIu64 " attempts  %" PRIu64 " rounds  %" PRIu64 " wrong  %" PRIu64 " with two winners",
           m.name, attempts, all.rounds, all.wrong, all.many);
    if (all.wrong == 0)
      printf("  below %.2g with 95 %% confidence (3/n)", 3.0 / static_cast<double>(attempts));
    printf("\n");
    fflush(stdout);
    any_wrong = any_wrong || all.wrong != 0;
  }
  return any_wrong ? 1 : 0;
}
