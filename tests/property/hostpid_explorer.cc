// Whole discoveries in seeded worlds: no PID claimed is a wrong one, every failure has a
// reason, nothing is left behind; and the search has been where it is dangerous. The
// seed is fixed; `identity_explorer` explores others, for longer.
#include <gtest/gtest.h>

#include "model/identity_world.h"

namespace rollcall::property {
namespace {

using model::Situation;

constexpr uint64_t kSeed = 20'261'201;
constexpr uint64_t kDiscoveries = 100'000;

TEST(IdentityExplorer, NoDiscoveryIsWrongAndEverySituationIsMet) {
  const model::Exploration found = model::explore(kSeed, 0, kDiscoveries);
  EXPECT_EQ(found.wrong, 0U) << found.first_wrong << "\nreplay: identity_explorer --seed " << kSeed
                             << " --discoveries 1 --first NUMBER";
  for (size_t s = 0; s < model::kSituations; ++s) {
    const auto situation = static_cast<Situation>(s);
    EXPECT_GT(found.situations.count(situation), 0U) << "never met: " << to_text(situation);
  }
  EXPECT_GT(found.claims, kDiscoveries / 2) << "who never claims anything is never wrong";
  printf("seed %llu, %llu discoveries, %llu wrong: below %.2g with 95 %% confidence (3/n)\n",
         static_cast<unsigned long long>(kSeed), static_cast<unsigned long long>(found.discoveries),
         static_cast<unsigned long long>(found.wrong), 3.0 / static_cast<double>(found.discoveries));
}

TEST(IdentityExplorer, ASeedReplaysADiscovery) {
  const model::Exploration once = model::explore(7, 40, 20);
  const model::Exploration again = model::explore(7, 40, 20);
  EXPECT_EQ(once.claims, again.claims);
  for (size_t s = 0; s < model::kSituations; ++s)
    EXPECT_EQ(once.situations.count(static_cast<Situation>(s)),
              again.situations.count(static_cast<Situation>(s)));
}

}  // namespace
}  // namespace rollcall::property
