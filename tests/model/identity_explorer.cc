// Explores discoveries in seeded worlds, and can have any of them again.
//
//   identity_explorer [--seed S] [--discoveries N] [--first I]
//
// Without --seed one is drawn, and printed. Exit status 1: a discovery was wrong; 3: a
// situation was never met that must be.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "model/identity_world.h"

using namespace rollcall::model;

int main(int argc, char** argv) {
  uint64_t seed = std::random_device()();
  uint64_t discoveries = 100'000;
  uint64_t first = 0;
  for (int i = 1; i < argc; i += 2) {
    uint64_t* const value = strcmp(argv[i], "--seed") == 0          ? &seed
                            : strcmp(argv[i], "--discoveries") == 0 ? &discoveries
                            : strcmp(argv[i], "--first") == 0       ? &first
                                                                    : nullptr;
    char* end = nullptr;
    if (value != nullptr && i + 1 < argc) *value = strtoull(argv[i + 1], &end, 10);
    if (end == nullptr || end == argv[i + 1] || *end != '\0') {
      fprintf(stderr, "usage: identity_explorer [--seed S] [--discoveries N] [--first I]\n");
      return 2;
    }
  }
  printf("seed %" PRIu64 ", %" PRIu64 " discoveries from number %" PRIu64 " on\n", seed, discoveries, first);
  fflush(stdout);
  const Exploration found = explore(seed, first, discoveries);
  bool all_met = true;
  for (size_t s = 0; s < kSituations; ++s) {
    const uint64_t times = found.situations.count(static_cast<Situation>(s));
    all_met = all_met && times != 0;
    printf("%12" PRIu64 "  %s\n", times, to_text(static_cast<Situation>(s)));
  }
  printf("%" PRIu64 " ended with a PID, %" PRIu64 " wrong", found.claims, found.wrong);
  if (found.wrong == 0 && discoveries != 0)
    printf(": below %.2g with 95 %% confidence (3/n)", 3.0 / static_cast<double>(discoveries));
  printf("\n");
  if (found.wrong != 0) {
    printf("%s\n", found.first_wrong.c_str());
    return 1;
  }
  // Few discoveries, as where one is replayed, need not meet everything.
  return all_met || discoveries < 100'000 ? 0 : 3;
}
