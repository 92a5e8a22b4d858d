// Who holds whose PID, with all workers in the launcher's PID namespace: there
// every numbering is the same, and a claim is simply right or wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/classify.h"
#include "analysis_runs.h"

namespace rollcall::analysis {
namespace {

using evidence::DiscoveryState;
using evidence::Fate;
using evidence::IdentityKind;
using test::assign;
using test::good_run;
using test::pid_of;
using test::thread_of;
using test::unassign;

Class class_of(const evidence::Run& run, int worker) {
  return classify(run).at(static_cast<size_t>(worker)).cls;
}

TEST(Classify, AWorkerThatHoldsItsOwnPidIsSelf) {
  const auto classified = classify(good_run("2x2", "legacy"));
  ASSERT_EQ(classified.size(), 4U);
  for (const auto& one : classified) {
    EXPECT_EQ(one.cls, Class::kSelf);
    EXPECT_EQ(one.host_class, Class::kSelf);
    EXPECT_EQ(one.nvml_class, Class::kSelf);
    EXPECT_FALSE(one.peer_worker);
    EXPECT_EQ(one.alias, "");
  }
}

TEST(Classify, AWorkerThatHoldsAnotherWorkersPidIsPeerAndTheOtherIsNamed) {
  auto run = good_run("2x2", "legacy");
  assign(run, 0, pid_of(3));
  const auto one = classify(run).at(0);
  EXPECT_EQ(one.cls, Class::kPeer);
  EXPECT_EQ(one.peer_worker, 3);
  EXPECT_EQ(one.peer_cache, 1);
  EXPECT_EQ(one.cache, 0);
}

TEST(Classify, APositivePidOfNoWorkerIsExternal) {
  auto run = good_run("1x2", "legacy");
  assign(run, 1, 4242);
  EXPECT_EQ(class_of(run, 1), Class::kExternal);
}

TEST(Classify, ANumberThatIsNoPidIsUnresolved) {
  auto run = good_run("1x2", "legacy");
  assign(run, 0, 0);
  assign(run, 1, -1);
  EXPECT_EQ(class_of(run, 0), Class::kUnresolved);
  EXPECT_EQ(class_of(run, 1), Class::kUnresolved);
  EXPECT_FALSE(classify(run).at(0).host_class);
}

TEST(Classify, AShimThatSaysItFailedIsDiscoveryFailed) {
  auto run = good_run("1x2", "legacy");
  unassign(run, 0, DiscoveryState::kFailed);
  EXPECT_EQ(class_of(run, 0), Class::kDiscoveryFailed);
  EXPECT_FALSE(classify(run).at(0).host_class) << "nothing was claimed";
}

TEST(Classify, NoEvidenceAndContradictingEvidenceAreUnresolved) {
  auto run = good_run("1x2", "legacy");
  unassign(run, 0, DiscoveryState::kNoEvidence);
  unassign(run, 1, DiscoveryState::kContradicting);
  EXPECT_EQ(class_of(run, 0), Class::kUnresolved);
  EXPECT_EQ(class_of(run, 1), Class::kUnresolved);
}

TEST(Classify, EvidenceReadBeforeAWorkerDiedStillCounts) {
  auto run = good_run("1x3", "legacy");
  for (auto& worker : run.workers) worker.fate = Fate::kDied;
  unassign(run, 1, DiscoveryState::kFailed);
  unassign(run, 2, DiscoveryState::kNoEvidence);
  EXPECT_EQ(class_of(run, 0), Class::kSelf);
  EXPECT_EQ(class_of(run, 1), Class::kDiscoveryFailed);
  EXPECT_EQ(class_of(run, 2), Class::kUnresolved);
}

TEST(Classify, ANativeArmHasNoClasses) {
  EXPECT_TRUE(classify(good_run("1x3", "native")).empty());
}

TEST(Classify, NothingThatADyingNodeSaidIsBelieved) {
  auto run = good_run("1x2", "legacy");
  unassign(run, 1, DiscoveryState::kFailed);
  run.record.events.push_back({"node_died", "simgpud was killed"});
  const auto counts = count_classes(classify(run));
  EXPECT_EQ(counts.of(Class::kUnresolved), 2);
  EXPECT_EQ(counts.total(), 2);
}

TEST(Classify, AWorkerWithoutARecordIsUnresolvedAndHasItsPlace) {
  auto run = good_run("2x2", "legacy");
  run.workers.erase(run.workers.begin() + 2);
  const auto classified = classify(run);
  ASSERT_EQ(classified.size(), 4U);
  EXPECT_EQ(classified[2].worker, 2);
  EXPECT_EQ(classified[2].cache, 1);
  EXPECT_EQ(classified[2].cls, Class::kUnresolved);
  EXPECT_EQ(classified[3].cls, Class::kSelf);
}

TEST(Classify, AWorkerWithTwoRecordsIsUnresolved) {
  auto run = good_run("1x2", "legacy");
  run.workers.push_back(run.workers[0]);
  run.workers.back().pid = 3333;
  run.workers.back().nspid = {3333};
  const auto classified = classify(run);
  ASSERT_EQ(classified.size(), 2U);
  EXPECT_EQ(classified[0].cls, Class::kUnresolved);
  EXPECT_EQ(classified[1].cls, Class::kSelf);
}

TEST(Classify, WithoutAnOwnPidNothingCanBeJudged) {
  auto run = good_run("1x2", "legacy");
  run.workers[0].pid.reset();
  run.workers[0].nspid.clear();
  EXPECT_EQ(class_of(run, 0), Class::kUnresolved);
}

TEST(Classify, WorkersThatShareOnePidAreAllUnresolvedAndNobodysPeer) {
  auto run = good_run("1x3", "legacy");
  run.workers[1].pid = pid_of(0);
  run.workers[1].nspid = {pid_of(0)};
  assign(run, 2, pid_of(0));
  EXPECT_EQ(class_of(run, 0), Class::kUnresolved);
  EXPECT_EQ(class_of(run, 1), Class::kUnresolved);
  EXPECT_EQ(class_of(run, 2), Class::kUnresolved) << "whose PID it holds cannot be told";
}

TEST(Classify, APidThatTheKernelContradictsIsNoTruth) {
  auto run = good_run("1x2", "legacy");
  run.workers[0].nspid = {pid_of(0) + 500};
  EXPECT_EQ(class_of(run, 0), Class::kUnresolved);
}

TEST(Classify, AnOwnThreadIdIsNotSelfButNamedAsAnAlias) {
  auto run = good_run("1x2", "legacy");
  assign(run, 0, thread_of(0));
  const auto one = classify(run).at(0);
  EXPECT_EQ(one.cls, Class::kExternal);
  EXPECT_EQ(one.alias, "thread_id");
}

TEST(Classify, TheMainThreadsIdIsThePidItselfAndNoAlias) {
  EXPECT_EQ(classify(good_run("1x1", "legacy")).at(0).alias, "");
}

TEST(Classify, AThreadIdThatIsAlsoAPeersPidContradictsItself) {
  auto run = good_run("1x2", "legacy");
  run.workers[0].thread_ids.push_back(pid_of(1));
  assign(run, 0, pid_of(1));
  EXPECT_EQ(class_of(run, 0), Class::kUnresolved);
}

TEST(Classify, AShimThatIsOnlyTimedHasNoClasses) {
  auto run = good_run("1x1", "mine");
  run.record.identity_kind = IdentityKind::kNone;
  EXPECT_TRUE(classify(run).empty());
}

TEST(ClassifyTwoNumbers, BothRightIsSelf) {
  const auto one = classify(test::good_tiered_run("1x2")).at(0);
  EXPECT_EQ(one.cls, Class::kSelf);
  EXPECT_EQ(one.host_class, Class::kSelf);
  EXPECT_EQ(one.nvml_class, Class::kSelf);
}

TEST(ClassifyTwoNumbers, OneWrongNumberMakesTheWorkerWrongWhicheverItIs) {
  auto run = test::good_tiered_run("1x3");
  run.workers[0].discovery.assigned_nvml_pid = pid_of(2);
  run.workers[1].discovery.assigned_pid = pid_of(0);
  run.workers[2].discovery.assigned_nvml_pid = 99'999;
  const auto classified = classify(run);
  EXPECT_EQ(classified[0].cls, Class::kPeer);
  EXPECT_EQ(classified[0].peer_worker, 2);
  EXPECT_EQ(classified[0].host_class, Class::kSelf);
  EXPECT_EQ(classified[0].nvml_class, Class::kPeer);
  EXPECT_EQ(classified[1].cls, Class::kPeer);
  EXPECT_EQ(classified[1].peer_worker, 0);
  EXPECT_EQ(classified[1].nvml_class, Class::kSelf);
  EXPECT_EQ(classified[2].cls, Class::kExternal);
}

TEST(ClassifyTwoNumbers, APeersNumberIsTheGraverOfTwoWrongOnes) {
  auto run = test::good_tiered_run("1x2");
  run.workers[0].discovery.assigned_pid = 99'999;
  run.workers[0].discovery.assigned_nvml_pid = pid_of(1);
  EXPECT_EQ(class_of(run, 0), Class::kPeer);
}

TEST(ClassifyTwoNumbers, OneThatIsKnownAndRightIsSelfAndTheOtherHasNoClass) {
  auto run = test::good_tiered_run("1x2");
  test::forget_host(run, 0, "no_broker");
  test::forget_nvml(run, 1, "no_context");
  const auto classified = classify(run);
  EXPECT_EQ(classified[0].cls, Class::kSelf);
  EXPECT_FALSE(classified[0].host_class);
  EXPECT_EQ(classified[0].nvml_class, Class::kSelf);
  EXPECT_EQ(classified[1].cls, Class::kSelf);
  EXPECT_EQ(classified[1].host_class, Class::kSelf);
  EXPECT_FALSE(classified[1].nvml_class) << "the host PID does not stand for a number that the shim misses";
}

TEST(ClassifyTwoNumbers, NeitherKnownIsDiscoveryFailed) {
  auto run = test::good_tiered_run("1x1");
  test::forget_both(run, 0, "no_broker", "no_context");
  EXPECT_EQ(class_of(run, 0), Class::kDiscoveryFailed);
}

TEST(ClassifyTwoNumbers, AnNvmlPidThatCannotBeJudgedKeepsTheWorkerFromBeingSelf) {
  auto run = test::good_tiered_run("2x2");
  test::isolate(run, evidence::NvmlView::kUnknown);
  test::forget_nvml(run, 1, "broker_view_unknown");
  const auto classified = classify(run);
  EXPECT_EQ(classified[0].cls, Class::kUnresolved);
  EXPECT_EQ(classified[0].host_class, Class::kSelf);
  EXPECT_EQ(classified[1].cls, Class::kSelf) << "what is not claimed need not be judged";
}

TEST(ClassifyTwoNumbers, EachIsJudgedInItsOwnNumbering) {
  auto run = test::good_tiered_run("2x2");
  test::isolate(run, evidence::NvmlView::kTranslated);
  run.workers[0].discovery.assigned_nvml_pid = 2;
  run.workers[1].discovery.assigned_nvml_pid = 2;  // worker 0's, in the same namespace
  const auto classified = classify(run);
  EXPECT_EQ(classified[0].cls, Class::kSelf);
  EXPECT_EQ(classified[1].cls, Class::kPeer);
  EXPECT_EQ(classified[1].peer_worker, 0);
  EXPECT_EQ(classified[2].cls, Class::kExternal) << "its host PID is nobody's number in there";
}

TEST(ClassifyTwoNumbers, AClaimThatIsNoPidTakesTheOtherWithIt) {
  for (const int64_t number : {0, -1}) {
    auto run = test::good_tiered_run("1x2");
    run.workers[0].discovery.assigned_pid = number;
    run.workers[1].discovery.assigned_nvml_pid = number;
    EXPECT_EQ(class_of(run, 0), Class::kUnresolved) << number;
    EXPECT_EQ(class_of(run, 1), Class::kUnresolved) << number;
  }
}

TEST(ClassifyTwoNumbers, ASourceThatTellsOneNumberMeansBothByIt) {
  auto run = good_run("1x2", "mine");
  run.record.identity_kind = IdentityKind::kBoth;
  assign(run, 1, pid_of(0));
  const auto classified = classify(run);
  EXPECT_EQ(classified[0].cls, Class::kSelf);
  EXPECT_EQ(classified[0].nvml_class, Class::kSelf);
  EXPECT_EQ(classified[1].cls, Class::kPeer);
}

TEST(Classify, TheOrderIsThatOfWorkerNumbers) {
  auto run = good_run("1x3", "legacy");
  std::reverse(run.workers.begin(), run.workers.end());
  const auto classified = classify(run);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(classified[static_cast<size_t>(i)].worker, i);
}

TEST(Classify, EveryClassHasOneNameAndEveryNameOneClass) {
  for (const Class value : kClasses) EXPECT_EQ(class_from_text(to_text(value)), value);
  EXPECT_FALSE(class_from_text("Self"));
  EXPECT_FALSE(class_from_text(""));
}

}  // namespace
}  // namespace rollcall::analysis
