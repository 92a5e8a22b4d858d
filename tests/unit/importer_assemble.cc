// From what was read of a run to its records, and what follows from them.
#include <gtest/gtest.h>

#include "analysis/classify.h"
#include "analysis/tables.h"
#include "analysis/times.h"
#include "analysis/validity.h"
#include "evidence/csv.h"
#include "importer/assemble.h"

namespace rollcall::importer {
namespace {

using analysis::Class;
using evidence::DiscoveryState;
using evidence::Isolation;
using evidence::NvmlView;
using hami::Says;
using hami::Verdict;

constexpr Verdict kSilent{Says::kNothing, 0, "not_in_log"};

Verdict assigned(int64_t pid) {
  return {Says::kAssigned, pid, ""};
}

// A run in which every worker 100·(cache+1)+i of a cache said that it is itself.
RunInput good_input(const std::string& topology, const std::string& arm = "hami") {
  RunInput input;
  input.number = 1;
  input.topology = *evidence::Topology::parse(topology);
  input.arm = arm;
  input.caches.resize(static_cast<size_t>(input.topology.caches()));
  for (size_t k = 0; k < input.caches.size(); ++k) {
    CacheLog log;
    for (int i = 0; i < input.topology.workers_per_cache(); ++i) {
      const int64_t pid = 100 * (static_cast<int64_t>(k) + 1) + i;
      log.reading.speakers.push_back({pid, assigned(pid)});
    }
    input.caches[k].logs.push_back(std::move(log));
  }
  return input;
}
Speaker& speaker(RunInput& input, size_t cache, size_t index) {
  return input.caches.at(cache).logs.at(0).reading.speakers.at(index);
}
// The launcher's list of the same workers.
Truth truth_of(const RunInput& input) {
  Truth truth;
  truth.has_results = true;
  for (int w = 0; w < input.topology.workers(); ++w) {
    const int cache = input.topology.cache_of(w);
    TruthRow row;
    row.slot = w;
    row.cache = cache;
    row.pid = 100 * (cache + 1) + w % input.topology.workers_per_cache();
    row.cuinit_rc = 0;
    row.enter_ns = 1000;
    row.return_ns = 5000 + w;
    truth.rows.push_back(row);
  }
  return truth;
}
void add_regions(RunInput& input) {
  for (CacheFiles& cache : input.caches) {
    cache.region.emplace();
    for (const Speaker& one : cache.logs.at(0).reading.speakers) {
      cache.region->slots.push_back({cache.region->slots.size(), static_cast<int32_t>(one.pid),
                                     static_cast<int32_t>(one.last.assigned_pid)});
    }
  }
}
std::vector<Class> classes(const RunInput& input) {
  std::vector<Class> result;
  for (const auto& one : analysis::classify(assemble(input).run)) result.push_back(one.cls);
  return result;
}
std::vector<std::string> reasons(const RunInput& input) {
  return analysis::invalid_reasons(assemble(input).run);
}

using Classes = std::vector<Class>;
using Reasons = std::vector<std::string>;

TEST(ImporterAssembleTest, WithoutAListTheWorkersAreThoseThatSpoke) {
  RunInput input = good_input("2x2");
  speaker(input, 1, 0).last = assigned(100);
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kSelf, Class::kPeer, Class::kSelf}));
  EXPECT_EQ(reasons(input), Reasons{});
  const evidence::Run run = assemble(input).run;
  EXPECT_EQ(run.record.truth, "log");
  EXPECT_EQ(run.record.imported_from, "hami-logs");
  EXPECT_EQ(run.record.node, evidence::NodeKind::kUnknown);
  EXPECT_EQ(run.workers[2].pid, 200);
  EXPECT_EQ(run.workers[2].fate, evidence::Fate::kNotObserved);
  EXPECT_EQ(run.workers[2].discovery.source, "hami-core-log");
}

TEST(ImporterAssembleTest, WhoNeverSpokeIsUnresolvedAndSoIsWhoHoldsAnUnknownPid) {
  RunInput input = good_input("1x3");
  input.caches[0].logs[0].reading.speakers.pop_back();
  speaker(input, 0, 0).last = assigned(4711);  // perhaps the silent one's
  EXPECT_EQ(classes(input), (Classes{Class::kUnresolved, Class::kSelf, Class::kUnresolved}));
  EXPECT_EQ(reasons(input), Reasons{"records_missing"});
  EXPECT_EQ(assemble(input).silent, 1);
}

TEST(ImporterAssembleTest, WhereAllSpokeAnUnknownPidIsNobodys) {
  RunInput input = good_input("1x2");
  speaker(input, 0, 0).last = assigned(4711);
  EXPECT_EQ(classes(input), (Classes{Class::kExternal, Class::kSelf}));
}

TEST(ImporterAssembleTest, WhereMoreSpokeThanThereAreItCannotBeToldWhoTheWorkersAre) {
  RunInput input = good_input("2x2");
  input.caches[0].logs[0].reading.speakers.push_back({777, kSilent});
  EXPECT_EQ(classes(input), (Classes{Class::kUnresolved, Class::kUnresolved, Class::kSelf, Class::kSelf}));
  EXPECT_EQ(reasons(input), (Reasons{"records_missing", "too_many_speakers"}));
}

TEST(ImporterAssembleTest, WithAListTheSilentAreThereAndStrangersAreNoWorkers) {
  RunInput input = good_input("1x2");
  input.truth = truth_of(input);
  speaker(input, 0, 1).pid = 777;
  speaker(input, 0, 0).last = assigned(777);
  EXPECT_EQ(classes(input), (Classes{Class::kExternal, Class::kUnresolved}));
  EXPECT_EQ(reasons(input), Reasons{});
  const Assembled assembled = assemble(input);
  EXPECT_EQ(assembled.strangers, 1);
  EXPECT_EQ(assembled.silent, 1);
  EXPECT_EQ(assembled.run.record.truth, "launcher");
  EXPECT_EQ(assembled.run.workers[1].discovery.reason, "not_in_log");
  EXPECT_EQ(analysis::span_ns(assembled.run), 5001);
  EXPECT_EQ(assembled.run.workers[0].cuinit_ns, 4000);
}

TEST(ImporterAssembleTest, AListThatLacksAWorkerMakesTheRunInvalid) {
  RunInput input = good_input("1x2");
  input.truth = truth_of(input);
  input.truth->rows.pop_back();
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kUnresolved}));
  EXPECT_EQ(reasons(input), Reasons{"records_missing"});
}

TEST(ImporterAssembleTest, WhatTheListSaysOfCuInitCounts) {
  RunInput input = good_input("1x2");
  input.truth = truth_of(input);
  input.truth->rows[0].cuinit_rc = 100;
  EXPECT_EQ(reasons(input), Reasons{"cuinit_failed"});
  input.truth->rows[0].cuinit_rc.reset();
  EXPECT_EQ(reasons(input), Reasons{"result_missing"});
  input.truth->rows[1].cuinit_rc.reset();
  input.truth->has_results = false;
  EXPECT_EQ(reasons(input), Reasons{}) << "a list without results says nothing of them";
}

TEST(ImporterAssembleTest, SlotsOfAListAreCountedWithinTheirCaches) {
  RunInput input = good_input("2x1");
  input.truth = truth_of(input);
  input.truth->rows[0].slot = 17;
  input.truth->rows[1].slot = 3;
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kSelf}));
  EXPECT_EQ(reasons(input), Reasons{});
}

TEST(ImporterAssembleTest, RegionAndLogMustAgree) {
  RunInput input = good_input("1x2");
  add_regions(input);
  EXPECT_EQ(assemble(input).run.workers[0].discovery.source, "hami-core");
  input.caches[0].region->slots[1].host_pid = 100;
  const evidence::Run run = assemble(input).run;
  EXPECT_EQ(run.workers[1].discovery.state, DiscoveryState::kContradicting);
  EXPECT_EQ(run.workers[1].discovery.reason, "region_and_log_differ");
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kUnresolved}));
}

TEST(ImporterAssembleTest, OneOfThemAloneSpeaksForItself) {
  RunInput input = good_input("1x2");
  add_regions(input);
  speaker(input, 0, 0).last = kSilent;
  input.caches[0].region->slots.erase(input.caches[0].region->slots.begin() + 1);
  const evidence::Run run = assemble(input).run;
  EXPECT_EQ(run.workers[0].discovery.source, "hami-core-region");
  EXPECT_EQ(run.workers[1].discovery.source, "hami-core-log");
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kSelf}));
}

TEST(ImporterAssembleTest, ASlotWithoutAPidIsNoFailureUnlessTheLogSaysSo) {
  RunInput input = good_input("1x2");
  add_regions(input);
  input.caches[0].region->slots[0].host_pid = 0;
  input.caches[0].region->slots[1].host_pid = 0;
  speaker(input, 0, 0).last = kSilent;
  speaker(input, 0, 1).last = {Says::kFailed, 0, "host_pid_error"};
  const evidence::Run run = assemble(input).run;
  EXPECT_EQ(run.workers[0].discovery.reason, "discovery_unfinished");
  EXPECT_EQ(run.workers[1].discovery.reason, "host_pid_error");
  EXPECT_EQ(classes(input), (Classes{Class::kUnresolved, Class::kDiscoveryFailed}));
}

TEST(ImporterAssembleTest, ALogThatIsMissingLeavesItsWorkersUnresolved) {
  RunInput input = good_input("2x1");
  input.truth = truth_of(input);
  input.caches[1].logs.clear();
  const evidence::Run run = assemble(input).run;
  EXPECT_EQ(run.workers[1].discovery.reason, "log_missing");
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kUnresolved}));
}

TEST(ImporterAssembleTest, AWorkerWithALogOfItsOwnHasItsNumberFromThere) {
  RunInput input = good_input("1x2");
  input.caches[0].logs.clear();
  for (const int worker : {1, 0}) {
    CacheLog log;
    log.worker = worker;
    log.reading.speakers.push_back({500 + worker, assigned(501)});
    input.caches[0].logs.push_back(log);
  }
  EXPECT_EQ(classes(input), (Classes{Class::kPeer, Class::kSelf}));
  input.caches[0].logs[0].reading.speakers.push_back({900, kSilent});
  EXPECT_EQ(reasons(input), (Reasons{"records_missing", "too_many_speakers"}));
}

evidence::Benchmark benchmark(int64_t n, int64_t ok, int64_t failed) {
  evidence::Benchmark result;
  result.n = n;
  result.ok = ok;
  result.failed = failed;
  result.wall_ns = 9;
  result.span_ns = 1'000'000'000 * n;
  result.max_ns = 2'000'000;
  return result;
}

TEST(ImporterAssembleTest, ANativeRunOfWhichNothingTellsAResultIsNotValid) {
  RunInput input = good_input("1x2", "native");
  input.caches[0].logs[0].reading.speakers.clear();
  EXPECT_EQ(reasons(input), Reasons{"nothing_observed"});
  input.caches[0].logs[0].reading.benchmarks = {benchmark(2, 2, 0)};
  EXPECT_EQ(reasons(input), Reasons{});
}

TEST(ImporterAssembleTest, NativeArmsHaveNoDiscoveryAndNeedNoRecords) {
  for (const char* arm : {"native", "native-context", "nvml-only"}) {
    RunInput input = good_input("2x2", arm);
    for (CacheFiles& cache : input.caches) {
      cache.logs[0].reading.speakers.clear();
      cache.logs[0].reading.benchmarks = {benchmark(2, 2, 0)};
    }
    EXPECT_EQ(classes(input), Classes{}) << arm;
    EXPECT_EQ(reasons(input), Reasons{}) << arm;
  }
  EXPECT_TRUE(has_shim("nativehami"));
  RunInput leaked = good_input("1x2", "native");
  leaked.caches[0].logs[0].reading.benchmarks = {benchmark(2, 2, 0)};
  EXPECT_EQ(reasons(leaked), Reasons{"shim_in_native_arm"});
}

std::string cell(const evidence::Run& run, const std::string& name) {
  const auto rows = *evidence::parse_csv(analysis::summary_csv({run}), "summary.csv");
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (rows[0][i] == name) return rows[1][i];
  }
  return "no such column";
}

TEST(ImporterAssembleTest, BenchmarksCountWhereWorkersWereNotTimed) {
  RunInput input = good_input("2x2", "native");
  for (CacheFiles& cache : input.caches) cache.logs[0].reading.speakers.clear();
  EXPECT_EQ(cell(assemble(input).run, "cuinit_ok"), "") << "not 0: nobody counted";
  input.caches[0].logs[0].reading.benchmarks = {benchmark(2, 2, 0)};
  evidence::Run run = assemble(input).run;
  EXPECT_EQ(cell(run, "cuinit_ok"), "") << "not of one cache alone";
  EXPECT_EQ(cell(run, "span_s"), "");
  input.caches[1].logs[0].reading.benchmarks = {benchmark(2, 2, 0)};
  run = assemble(input).run;
  EXPECT_EQ(cell(run, "cuinit_ok"), "4");
  EXPECT_EQ(cell(run, "cuinit_failed"), "0");
  EXPECT_EQ(cell(run, "span_s"), "2.000");
  EXPECT_EQ(cell(run, "cuinit_max_ms"), "2.000");
  EXPECT_EQ(cell(run, "cuinit_p50_ms"), "") << "no percentile of percentiles";
  EXPECT_EQ(cell(run, "truth"), "log: not checked against a launcher");
  input.caches[1].logs[0].reading.benchmarks.push_back(benchmark(2, 2, 0));
  EXPECT_EQ(cell(assemble(input).run, "cuinit_ok"), "") << "two lines: of which run?";
}

TEST(ImporterAssembleTest, ABenchmarkWithFailuresOrOfAnotherSizeMakesTheRunInvalid) {
  RunInput input = good_input("1x2");
  input.caches[0].logs[0].reading.benchmarks = {benchmark(2, 1, 1)};
  EXPECT_EQ(reasons(input), Reasons{"cuinit_failed"});
  EXPECT_EQ(cell(assemble(input).run, "cuinit_max_ms"), "");
  input.caches[0].logs[0].reading.benchmarks = {benchmark(5, 5, 0)};
  EXPECT_EQ(reasons(input), Reasons{"topology_differs"});
}

TEST(ImporterAssembleTest, InsideNamespacesTheViewDecidesWhatANumberMeans) {
  RunInput input = good_input("2x2");
  input.isolation = Isolation::kPid;
  for (size_t k = 0; k < 2; ++k) {
    for (size_t i = 0; i < 2; ++i) speaker(input, k, i) = {static_cast<int64_t>(i) + 2, assigned(2)};
  }
  input.view = NvmlView::kTranslated;
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kPeer, Class::kSelf, Class::kPeer}))
      << "equal numbers in other namespaces are not one's own";
  EXPECT_EQ(reasons(input), Reasons{});
  EXPECT_FALSE(assemble(input).run.workers[0].pid);
  for (const NvmlView view : {NvmlView::kUnknown, NvmlView::kGlobal}) {
    input.view = view;
    EXPECT_EQ(classes(input), Classes(4, Class::kUnresolved));
  }
}

TEST(ImporterAssembleTest, AListCanTellBothNumbers) {
  RunInput input = good_input("1x2");
  input.isolation = Isolation::kPid;
  input.view = NvmlView::kGlobal;
  Truth truth;
  truth.has_namespace_pids = true;
  for (int i = 0; i < 2; ++i) {
    TruthRow row;
    row.slot = i;
    row.pid = 5000 + i;
    row.namespace_pid = 100 + i;
    truth.rows.push_back(row);
  }
  input.truth = truth;
  speaker(input, 0, 0).last = assigned(5000);
  speaker(input, 0, 1).last = assigned(5000);
  EXPECT_EQ(classes(input), (Classes{Class::kSelf, Class::kPeer}));
  EXPECT_TRUE(check_truth(truth, input.topology, Isolation::kPid, "w.csv"));
  truth.has_namespace_pids = false;
  EXPECT_FALSE(check_truth(truth, input.topology, Isolation::kPid, "w.csv"));
  EXPECT_FALSE(check_truth(truth, *evidence::Topology::parse("1x1"), Isolation::kNone, "w.csv"));
}

}  // namespace
}  // namespace rollcall::importer
