// The sentences: what was seen, how far it can be trusted, and never a word of
// success where nothing is known.
#include <gtest/gtest.h>

#include "analysis/summary.h"
#include "analysis_runs.h"
#include "report/terminal.h"

namespace rollcall::report {
namespace {

using analysis::summarise;
using evidence::DiscoveryState;
using test::assign;
using test::good_run;
using test::kSecond;
using test::pid_of;
using test::unassign;
using Sentences = std::vector<std::string>;

evidence::Run with_peers(evidence::Run run, int count) {
  for (int i = 0; i < count; ++i) assign(run, i, pid_of((i + 1) % run.record.topology.workers()));
  return run;
}

std::string first_sentence(const std::vector<evidence::Run>& runs) {
  return findings(summarise(runs)).at(0);
}

TEST(Findings, TheStudyInThreeSentences) {
  auto isolated = with_peers(good_run("50x5", "legacy", 4), 236);
  unassign(isolated, 240, DiscoveryState::kFailed);
  EXPECT_EQ(
      findings(summarise({good_run("1x250", "native", 1), good_run("1x250", "legacy", 2),
                          good_run("50x5", "native", 3), isolated})),
      (Sentences{"One shared cache (1x250): every legacy worker found its own PID (250 of 250).",
                 "Isolated caches (50x5): 236 of 250 legacy workers silently hold another worker's PID, 1 "
                 "discovery failed; no cuInit call failed.",
                 "Control: visible — isolated caches with legacy show peers, so this experiment can see the "
                 "fault."}));
}

TEST(Findings, AControlThatShowsNothingTakesTheMeaningFromOtherArms) {
  const auto sentences = findings(summarise({good_run("2x2", "legacy", 1), good_run("2x2", "mine", 2)}));
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_TRUE(sentences[2].starts_with("Control: not visible — "));
  EXPECT_NE(sentences[2].find("absence of peers in other arms proves nothing here"), std::string::npos);
}

TEST(Findings, AnAbsentControlIsSaid) {
  EXPECT_TRUE(findings(summarise({good_run("1x2", "legacy")})).back().starts_with("Control: absent — "));
  EXPECT_TRUE(findings(summarise({good_run("2x2", "mine")})).back().starts_with("Control: absent — "));
}

TEST(Findings, AFaultThatWasSeenNeedsNoControl) {
  const auto seen = findings(summarise({with_peers(good_run("2x2", "mine"), 1)})).back();
  EXPECT_TRUE(seen.starts_with("Control: absent — "));
  EXPECT_NE(seen.find("the fault was seen all the same"), std::string::npos);
  const auto unseen = findings(summarise({good_run("2x2", "mine")})).back();
  EXPECT_EQ(unseen.find("the fault was seen"), std::string::npos);
  EXPECT_NE(unseen.find("cannot tell"), std::string::npos);
}

TEST(Findings, OneSharedCacheIsNotEnoughOnceContextsAreKept) {
  auto run = with_peers(good_run("1x12", "legacy"), 5);
  run.record.workload = evidence::Workload::kContext;
  run.record.hold = evidence::Hold::kAll;
  for (auto& worker : run.workers) {
    worker.context_result = 0;
    worker.context_ns = 1000;
  }
  EXPECT_EQ(
      first_sentence({run}),
      "One shared cache (1x12): 5 of 12 legacy workers silently hold another worker's PID; no cuInit call "
      "failed; one cache is right only while nobody keeps a context.");
}

TEST(Findings, TheNodeLockIsComparedWithLegacyWhicheverWayItGoes) {
  auto slow = good_run("2x2", "legacy-node-lock", 2);
  auto legacy = good_run("2x2", "legacy", 1);
  slow.record.last_gone_ns = 29 * kSecond;
  EXPECT_EQ(findings(summarise({legacy, slow})).at(1),
            "Isolated caches (2x2): every legacy-node-lock worker found its own PID (4 of 4); its wall time "
            "is 1.50× "
            "that of legacy.");
  slow.record.last_gone_ns = 11 * kSecond;
  EXPECT_NE(findings(summarise({legacy, slow})).at(1).find("0.50×"), std::string::npos);
  EXPECT_EQ(findings(summarise({slow})).at(0).find("×"), std::string::npos);
}

TEST(Findings, OtherFaultsAreCountedByName) {
  auto run = good_run("1x5", "mine");
  unassign(run, 0, DiscoveryState::kFailed);
  unassign(run, 1, DiscoveryState::kFailed);
  unassign(run, 2, DiscoveryState::kNoEvidence);
  assign(run, 3, 99'999);
  EXPECT_EQ(first_sentence({run}),
            "One shared cache (1x5): 1 of 5 mine workers found their own PID; 2 discoveries failed, 1 holds "
            "a PID of "
            "no worker, 1 could not be resolved.");
}

TEST(Findings, AConditionWithoutAValidRunIsNotPassedOver) {
  auto broken = good_run("1x2", "mine", 2);
  broken.workers[0].fate = evidence::Fate::kDied;
  EXPECT_EQ(findings(summarise({good_run("1x2", "legacy", 1), broken})).at(1),
            "One shared cache (1x2): no valid run of mine, so nothing is known of it.");
}

TEST(Findings, UnknownIsNotOk) {
  auto broken = good_run("2x2", "legacy");
  broken.workers[0].fate = evidence::Fate::kDied;
  const auto sentences = findings(summarise({broken}));
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_TRUE(sentences[0].starts_with("No run is valid"));
  EXPECT_EQ(findings(summarise({})).size(), 1U);
}

}  // namespace
}  // namespace rollcall::report
