// Whether a run may be believed: each reason code by the fault that brings it.
#include <gtest/gtest.h>

#include "analysis/validity.h"
#include "analysis_runs.h"

namespace rollcall::analysis {
namespace {

using evidence::Fate;
using evidence::NodeKind;
using evidence::Workload;
using test::good_run;
using test::kMs;
using Reasons = std::vector<std::string>;

evidence::Run real_run(const std::string& topology) {
  auto run = good_run(topology, "native");
  run.record.node = NodeKind::kReal;
  for (auto& worker : run.workers) worker.driver_library = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.1";
  return run;
}

TEST(Validity, ARunInWhichAllWentRightHasNoReasons) {
  EXPECT_EQ(invalid_reasons(good_run("2x2", "legacy")), Reasons{});
  EXPECT_EQ(invalid_reasons(good_run("2x2", "native")), Reasons{});
  EXPECT_EQ(invalid_reasons(real_run("2x2")), Reasons{});
}

TEST(Validity, WrongPidsAreAFindingAndNotAFault) {
  auto run = good_run("1x2", "legacy");
  test::assign(run, 0, test::pid_of(1));
  test::unassign(run, 1, evidence::DiscoveryState::kFailed);
  EXPECT_EQ(invalid_reasons(run), Reasons{});
}

TEST(Validity, EachFateButFinishedHasItsReason) {
  for (const auto& [fate, reason] :
       {std::pair{Fate::kDied, "worker_died"}, std::pair{Fate::kDeadline, "deadline"},
        std::pair{Fate::kAborted, "aborted"}, std::pair{Fate::kNotStarted, "not_started"}}) {
    auto run = good_run("1x3", "legacy");
    run.workers[1].fate = fate;
    run.workers[1].shim_loaded.reset();
    run.workers[1].cuinit_result.reset();
    run.workers[1].driver_library.clear();
    EXPECT_EQ(invalid_reasons(run), Reasons{reason})
        << "and nothing else is asked of a worker that did not finish";
  }
}

TEST(Validity, ACuInitThatFailedOrIsNotKnown) {
  auto run = good_run("1x2", "native");
  run.workers[0].cuinit_result = 999;
  EXPECT_EQ(invalid_reasons(run), Reasons{"cuinit_failed"});
  run.workers[0].cuinit_result.reset();
  EXPECT_EQ(invalid_reasons(run), Reasons{"cuinit_failed"});
}

TEST(Validity, OutOfMemoryIsNamedBesideTheFailure) {
  auto run = good_run("1x2", "native");
  run.workers[1].cuinit_result = 2;
  EXPECT_EQ(invalid_reasons(run), (Reasons{"cuinit_failed", "out_of_memory"}));
}

TEST(Validity, ContextsAreAskedForOnlyInTheirWorkload) {
  auto run = good_run("1x2", "native");
  run.record.workload = Workload::kContext;
  run.workers[0].context_result = 0;
  run.workers[0].context_ns = 1000;
  EXPECT_EQ(invalid_reasons(run), Reasons{"cuinit_failed"});
  run.workers[1].context_result = 2;
  EXPECT_EQ(invalid_reasons(run), (Reasons{"cuinit_failed", "out_of_memory"}));
  run.workers[1].context_result = 0;
  run.workers[1].context_ns = 1000;
  EXPECT_EQ(invalid_reasons(run), Reasons{});
}

TEST(Validity, AShimThatIsNotMappedOrNotSeen) {
  auto run = good_run("1x2", "legacy");
  run.workers[0].shim_loaded = false;
  EXPECT_EQ(invalid_reasons(run), Reasons{"shim_not_loaded"});
  run.workers[0].shim_loaded.reset();
  EXPECT_EQ(invalid_reasons(run), Reasons{"shim_not_loaded"});
}

TEST(Validity, AShimWithoutDeviceMemorySaysSo) {
  auto run = good_run("1x2", "legacy");
  test::unassign(run, 1, evidence::DiscoveryState::kFailed);
  run.workers[1].discovery.reason = "out_of_memory";
  EXPECT_EQ(invalid_reasons(run), Reasons{"out_of_memory"});
}

TEST(Validity, AControlThatFailedOrIsNotKnown) {
  for (const auto exercise : {evidence::Exercise::kProbe, evidence::Exercise::kNvmlInit}) {
    auto run = good_run("1x2", "native");
    run.record.exercise = exercise;
    for (auto& worker : run.workers) {
      worker.control_result = 0;
      worker.control_ns = 5 * kMs;
    }
    EXPECT_EQ(invalid_reasons(run), Reasons{});
    run.workers[0].control_ns.reset();
    EXPECT_EQ(invalid_reasons(run), Reasons{"inconsistent_record"});
    run.workers[0].control_result.reset();
    EXPECT_EQ(invalid_reasons(run), Reasons{"control_failed"});
    run.workers[0].control_result = 2;
    run.workers[0].control_ns = 5 * kMs;
    EXPECT_EQ(invalid_reasons(run), exercise == evidence::Exercise::kProbe
                                        ? (Reasons{"control_failed", "out_of_memory"})
                                        : Reasons{"control_failed"})
        << "NVML's 2 is an invalid argument";
  }
}

TEST(Validity, NvmlAloneNeedsNoCuInit) {
  auto run = good_run("1x2", "native");
  run.record.exercise = evidence::Exercise::kNvmlInit;
  for (auto& worker : run.workers) {
    worker.cuinit_result.reset();
    worker.cuinit_ns.reset();
    worker.control_result = 0;
    worker.control_ns = kMs;
    worker.driver_library = "/usr/lib/rollcall/sim/libnvidia-ml.so.1";
  }
  EXPECT_EQ(invalid_reasons(run), Reasons{});
  run.record.exercise = evidence::Exercise::kCuInit;
  EXPECT_EQ(invalid_reasons(run), Reasons{"cuinit_failed"});
}

TEST(Validity, ARealNodeMustNotMeetTheStandInDriver) {
  auto run = real_run("1x2");
  for (const char* library : {"", "/home/a/build/lib/rollcall/sim/libcuda.so.1"}) {
    run.workers[0].driver_library = library;
    EXPECT_EQ(invalid_reasons(run), Reasons{"wrong_driver"}) << library;
  }
}

TEST(Validity, ASimulatedNodeNeedsTheStandInDriver) {
  auto run = good_run("1x2", "native");
  for (const char* library : {"", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/opt/sim/libcuda.so.1"}) {
    run.workers[0].driver_library = library;
    EXPECT_EQ(invalid_reasons(run), Reasons{"wrong_driver"}) << library;
  }
  run.workers[0].driver_library = "/home/a/build/lib/rollcall/sim/libcuda.so.1";
  EXPECT_EQ(invalid_reasons(run), Reasons{});
}

TEST(Validity, RecordsThatAreMissingTooManyOrOutOfPlace) {
  auto run = good_run("2x2", "native");
  run.workers.pop_back();
  EXPECT_EQ(invalid_reasons(run), Reasons{"records_missing"});

  run = good_run("2x2", "native");
  run.workers[3].worker = 4;
  EXPECT_EQ(invalid_reasons(run), Reasons{"records_missing"});

  run = good_run("2x2", "native");
  run.workers[3].cache = 0;
  EXPECT_EQ(invalid_reasons(run), Reasons{"records_missing"});

  run = good_run("2x2", "native");
  run.workers.push_back(run.workers[0]);
  run.workers.back().pid = 7777;
  EXPECT_EQ(invalid_reasons(run), Reasons{"records_missing"});
}

TEST(Validity, TwoWorkersWithOnePid) {
  auto run = good_run("1x2", "native");
  run.workers[1].pid = run.workers[0].pid;
  EXPECT_EQ(invalid_reasons(run), Reasons{"pid_reused"});
}

TEST(Validity, GateSkewCountsOnARealNodeAboveFiftyMilliseconds) {
  auto run = real_run("1x2");
  run.workers[1].released_ns = *run.workers[0].released_ns + 50 * kMs;
  EXPECT_EQ(invalid_reasons(run), Reasons{});
  run.workers[1].released_ns = *run.workers[0].released_ns + 50 * kMs + 1;
  EXPECT_EQ(invalid_reasons(run), Reasons{"gate_skew"});
  run.record.node = NodeKind::kSimulated;
  for (auto& worker : run.workers) worker.driver_library = "/usr/lib/rollcall/sim/libcuda.so.1";
  EXPECT_EQ(invalid_reasons(run), Reasons{});
}

TEST(Validity, GateSkewMayBeATenthOfALongSpan) {
  auto run = real_run("1x2");
  run.workers[1].finished_ns = 2000 * kMs;
  run.workers[1].released_ns = *run.workers[0].released_ns + 200 * kMs;
  EXPECT_EQ(invalid_reasons(run), Reasons{});
  run.workers[1].released_ns = *run.workers[0].released_ns + 200 * kMs + 1;
  EXPECT_EQ(invalid_reasons(run), Reasons{"gate_skew"});
}

TEST(Validity, EventsCountUnderTheirOwnCodesEachOnceInOrder) {
  auto run = good_run("1x2", "native");
  run.record.events = {
      {"stale_cache", "cache_0"}, {"node_died", ""}, {"stale_cache", "cache_1"}, {"brand_new", ""}};
  EXPECT_EQ(invalid_reasons(run), (Reasons{"brand_new", "node_died", "stale_cache"}));
}

TEST(Validity, ARecordThatContradictsItselfIsNotBelieved) {
  const Reasons inconsistent = {"inconsistent_record"};
  const auto reasons_with = [](auto change) {
    auto run = good_run("1x2", "legacy");
    change(run.workers[1]);
    return invalid_reasons(run);
  };
  using Worker = evidence::WorkerRecord;
  EXPECT_EQ(reasons_with([](Worker& w) { w.cuinit_ns = -1; }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.finished_ns = INT64_MAX; }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.finished_ns.reset(); }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.cuinit_ns.reset(); }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.exit_signal = 9; }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.exit_code = 7; }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.exit_code.reset(); }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.stage = evidence::Stage::kReady; }), inconsistent);
  EXPECT_EQ(reasons_with([](Worker& w) { w.discovery.added_ns = -5; }), inconsistent);

  auto run = good_run("1x2", "legacy");
  run.record.collect_ns = *run.record.last_gone_ns + 1;
  EXPECT_EQ(invalid_reasons(run), inconsistent);
}

}  // namespace
}  // namespace rollcall::analysis
