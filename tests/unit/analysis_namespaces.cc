// Own PID in whose numbering? With each cache in a PID namespace of its own the
// host PID and the PID that NVML shows part ways, and equal small numbers
// stand for different processes.
#include <gtest/gtest.h>

#include "analysis/classify.h"
#include "analysis_runs.h"

namespace rollcall::analysis {
namespace {

using evidence::IdentityKind;
using evidence::NvmlView;
using test::assign;
using test::good_run;
using test::isolate;
using test::pid_of;

// 2x2: workers 0 and 1 are 2 and 3 in one namespace, workers 2 and 3 are 2 and
// 3 in another.
evidence::Run isolated(NvmlView view, IdentityKind kind) {
  auto run = good_run("2x2", "mine");
  run.record.identity_kind = kind;
  isolate(run, view);
  return run;
}

Classified first_of(const evidence::Run& run) {
  return classify(run).at(0);
}

TEST(ClassifyIsolated, TranslatedViewJudgesByThePidInside) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  assign(run, 0, 2);
  const auto one = first_of(run);
  EXPECT_EQ(one.cls, Class::kSelf);
  EXPECT_EQ(one.nvml_class, Class::kSelf);
  EXPECT_EQ(one.host_class, Class::kExternal);
  EXPECT_EQ(one.alias, "namespace_pid") << "which explains the host_class";
}

TEST(ClassifyIsolated, TranslatedViewFindsThePeerInTheSameNamespace) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  assign(run, 2, 3);
  const auto one = classify(run).at(2);
  EXPECT_EQ(one.cls, Class::kPeer);
  EXPECT_EQ(one.peer_worker, 3) << "not worker 1, which is 3 in the sibling namespace";
  EXPECT_EQ(one.peer_cache, 1);
}

TEST(ClassifyIsolated, ANumberThatExistsOnlyInASiblingNamespaceIsExternal) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  run.workers[3].nspid = {pid_of(3), 17};
  assign(run, 0, 17);
  EXPECT_EQ(first_of(run).cls, Class::kExternal);
}

TEST(ClassifyIsolated, TranslatedViewMakesTheHostPidAWrongAnswer) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  assign(run, 0, pid_of(0));
  const auto one = first_of(run);
  EXPECT_EQ(one.cls, Class::kExternal);
  EXPECT_EQ(one.host_class, Class::kSelf);
}

TEST(ClassifyIsolated, GlobalViewJudgesByTheHostPid) {
  auto run = isolated(NvmlView::kGlobal, IdentityKind::kNvml);
  assign(run, 0, pid_of(0));
  assign(run, 1, 3);
  assign(run, 2, pid_of(1));
  const auto classified = classify(run);
  EXPECT_EQ(classified[0].cls, Class::kSelf);
  EXPECT_EQ(classified[1].cls, Class::kExternal);
  EXPECT_EQ(classified[1].alias, "namespace_pid");
  EXPECT_EQ(classified[2].cls, Class::kPeer);
  EXPECT_EQ(classified[2].peer_worker, 1);
}

TEST(ClassifyIsolated, UnknownViewLeavesAnNvmlIdentityUnresolved) {
  auto run = isolated(NvmlView::kUnknown, IdentityKind::kNvml);
  assign(run, 0, 2);
  const auto one = first_of(run);
  EXPECT_EQ(one.cls, Class::kUnresolved);
  EXPECT_FALSE(one.nvml_class);
  EXPECT_EQ(one.host_class, Class::kExternal);
}

TEST(ClassifyIsolated, UnknownViewDoesNotMatterInTheLaunchersNamespace) {
  auto run = good_run("1x2", "legacy");
  run.record.view = NvmlView::kUnknown;
  EXPECT_EQ(first_of(run).cls, Class::kSelf);
  run.workers[0].nspid.clear();
  EXPECT_EQ(first_of(run).cls, Class::kSelf) << "nobody was put into a namespace";
}

TEST(ClassifyIsolated, HostIdentityIsJudgedByTheHostPidWhateverTheView) {
  for (const NvmlView view : {NvmlView::kUnknown, NvmlView::kGlobal, NvmlView::kTranslated}) {
    auto run = isolated(view, IdentityKind::kHost);
    assign(run, 0, pid_of(0));
    assign(run, 1, 3);
    EXPECT_EQ(classify(run).at(0).cls, Class::kSelf);
    EXPECT_EQ(classify(run).at(1).cls, Class::kExternal);
    EXPECT_EQ(classify(run).at(1).alias, "namespace_pid");
  }
}

TEST(ClassifyIsolated, ANamespacePidThatIsAPeersHostPidIsPeerWithItsAlias) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kHost);
  run.workers[3].pid = 2;
  run.workers[3].nspid = {2, 3};
  assign(run, 0, 2);
  const auto one = first_of(run);
  EXPECT_EQ(one.cls, Class::kPeer) << "who acts on host PID 2 acts on worker 3";
  EXPECT_EQ(one.peer_worker, 3);
  EXPECT_EQ(one.alias, "namespace_pid") << "but it was not found by a race";
}

TEST(ClassifyIsolated, BothIsSelfOnlyIfBothNumbersAreRight) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kBoth);
  assign(run, 0, pid_of(0));
  EXPECT_EQ(first_of(run).cls, Class::kExternal);
  assign(run, 0, 2);
  EXPECT_EQ(first_of(run).cls, Class::kExternal);

  auto together = isolated(NvmlView::kGlobal, IdentityKind::kBoth);
  assign(together, 0, pid_of(0));
  EXPECT_EQ(first_of(together).cls, Class::kSelf);
}

TEST(ClassifyIsolated, BothIsUnresolvedWhereOneNumberCannotBeJudged) {
  auto run = isolated(NvmlView::kUnknown, IdentityKind::kBoth);
  assign(run, 0, pid_of(0));
  assign(run, 1, pid_of(2));
  EXPECT_EQ(classify(run).at(0).cls, Class::kUnresolved);
  EXPECT_EQ(classify(run).at(1).cls, Class::kPeer) << "wrong by one number is wrong";
}

TEST(ClassifyIsolated, NobodyIsCalledExternalWhileAWorkersInnerNumberIsUnknown) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  run.workers[1].nspid.clear();
  assign(run, 0, 17);
  EXPECT_EQ(first_of(run).cls, Class::kUnresolved) << "17 could be worker 1";
  assign(run, 0, 2);
  EXPECT_EQ(first_of(run).cls, Class::kSelf);
  assign(run, 1, 3);
  EXPECT_EQ(classify(run).at(1).cls, Class::kUnresolved) << "its own number inside is not known";
}

TEST(ClassifyIsolated, EqualNumbersInOneNamespaceContradictEachOther) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  run.workers[1].nspid = {pid_of(1), 2};
  assign(run, 0, 2);
  EXPECT_EQ(first_of(run).cls, Class::kUnresolved);
}

TEST(ClassifyIsolated, ThreadIdsAreNotComparedWithNumbersInside) {
  auto run = isolated(NvmlView::kTranslated, IdentityKind::kNvml);
  run.workers[0].thread_ids = {pid_of(0), 17};
  assign(run, 0, 17);
  EXPECT_EQ(first_of(run).alias, "") << "17 in the launcher's numbering is another process than 17 inside";
}

}  // namespace
}  // namespace rollcall::analysis
