// Arbitrary records: any value that a record may hold, likely ones more often,
// so that PIDs collide and rare states meet.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::property {

using namespace evidence;  // NOLINT: this header is about nothing else

template <typename T>
rc::Gen<std::optional<T>> maybe(rc::Gen<T> gen) {
  return rc::gen::mapcat(rc::gen::arbitrary<bool>(), [gen](bool there) {
    return there ? rc::gen::map(gen, [](T value) { return std::optional<T>(std::move(value)); })
                 : rc::gen::just(std::optional<T>());
  });
}

// Any characters, from NUL to beyond the basic plane, as UTF-8.
inline rc::Gen<std::string> any_text() {
  const auto character =
      rc::gen::oneOf(rc::gen::inRange<uint32_t>(0, 0x80), rc::gen::inRange<uint32_t>(0x80, 0x800),
                     rc::gen::inRange<uint32_t>(0x800, 0xD800), rc::gen::inRange<uint32_t>(0xE000, 0x110000));
  return rc::gen::map(rc::gen::container<std::vector<uint32_t>>(character),
                      [](const std::vector<uint32_t>& points) {
                        std::string text;
                        const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
                        for (const uint32_t c : points) {
                          if (c < 0x80) {
                            put(c);
                          } else if (c < 0x800) {
                            put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
                          } else if (c < 0x10000) {
                            put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
                          } else {
                            put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)),
                                put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
                          }
                        }
                        return text;
                      });
}

// Few different ones, so that workers claim each other's, and the extremes.
inline rc::Gen<int64_t> any_pid() {
  return rc::gen::weightedOneOf<int64_t>(
      {{9, rc::gen::inRange<int64_t>(1, 12)}, {1, rc::gen::inRange<int64_t>(1, int64_t{1} << 31)}});
}

inline rc::Gen<Topology> any_topology(int max_workers) {
  return rc::gen::exec([max_workers] {
    const int caches = *rc::gen::inRange(1, max_workers + 1);
    const int workers = *rc::gen::inRange(1, max_workers / caches + 1);
    return Topology::parse(std::to_string(caches) + "x" + std::to_string(workers)).value();
  });
}

inline rc::Gen<Discovery> any_discovery() {
  return rc::gen::exec([] {
    Discovery d;
    d.state = *rc::gen::weightedElement<DiscoveryState>({{1, DiscoveryState::kNoEvidence},
                                                         {5, DiscoveryState::kAssigned},
                                                         {1, DiscoveryState::kFailed},
                                                         {1, DiscoveryState::kContradicting}});
    if (d.state == DiscoveryState::kAssigned) {
      const auto number =
          rc::gen::weightedOneOf<int64_t>({{9, any_pid()}, {1, rc::gen::arbitrary<int64_t>()}});
      d.assigned_pid = *maybe(number);
      d.assigned_nvml_pid = *maybe(number);
      if (!d.assigned_pid && !d.assigned_nvml_pid) d.assigned_pid = *number;
    }
    d.nvml_tier = *any_text();
    d.nvml_reason = *any_text();
    d.source = *any_text();
    d.tier = *any_text();
    d.reason = *any_text();
    d.added_ns = *maybe(rc::gen::arbitrary<int64_t>());
    d.context_added_ns = *maybe(rc::gen::arbitrary<int64_t>());
    return d;
  });
}

inline rc::Gen<WorkerRecord> any_worker(int max_worker) {
  return rc::gen::exec([max_worker] {
    WorkerRecord w;
    w.worker = *rc::gen::inRange(0, max_worker + 1);
    w.cache = *rc::gen::inRange(0, max_worker + 1);
    w.pid = *maybe(any_pid());
    w.start_time = *maybe(rc::gen::arbitrary<uint64_t>());
    w.pid_namespace = *maybe(rc::gen::inRange<uint64_t>(1, 4));
    w.nspid = *rc::gen::container<std::vector<int64_t>>(*rc::gen::inRange<size_t>(0, 4), any_pid());
    // Mostly as the kernel says it: it begins with the PID.
    if (w.pid && !w.nspid.empty() && *rc::gen::inRange(0, 8) != 0) w.nspid.front() = *w.pid;
    w.thread_ids = *rc::gen::container<std::vector<int64_t>>(*rc::gen::inRange<size_t>(0, 4), any_pid());
    w.fate = *rc::gen::element(Fate::kFinished, Fate::kDied, Fate::kDeadline, Fate::kAborted,
                               Fate::kNotStarted, Fate::kNotObserved);
    w.stage = *rc::gen::element(Stage::kNone, Stage::kStarted, Stage::kReady, Stage::kReleased,
                                Stage::kInitialised, Stage::kFinished);
    w.exit_code = *maybe(rc::gen::arbitrary<int>());
    w.exit_signal = *maybe(rc::gen::arbitrary<int>());
    w.error = *any_text();
    w.shim_loaded = *maybe(rc::gen::arbitrary<bool>());
    w.driver_library = *any_text();
    w.load_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.released_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.resolve_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.cuinit_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.cuinit_result = *maybe(rc::gen::arbitrary<int>());
    w.context_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.context_result = *maybe(rc::gen::arbitrary<int>());
    w.control_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.control_result = *maybe(rc::gen::arbitrary<int>());
    w.finished_ns = *maybe(rc::gen::arbitrary<int64_t>());
    w.discovery = *any_discovery();
    return w;
  });
}

inline rc::Gen<Benchmark> any_benchmark() {
  return rc::gen::exec([] {
    const auto any_count = rc::gen::inRange<int64_t>(0, int64_t{1} << 40);
    Benchmark b;
    b.cache = *rc::gen::inRange(0, kMaxWorkers);
    b.label = *any_text();
    b.n = *any_count;
    for (auto* member : {&b.ok, &b.failed, &b.wall_ns, &b.span_ns, &b.mean_ns, &b.p50_ns, &b.p95_ns,
                         &b.p99_ns, &b.min_ns, &b.max_ns, &b.mean_cpu_ns, &b.mean_wait_ns}) {
      *member = *maybe(any_count);
    }
    return b;
  });
}

inline rc::Gen<RunRecord> any_run_record(int max_workers) {
  return rc::gen::exec([max_workers] {
    RunRecord r;
    r.number = *rc::gen::inRange(1, 1'000'000);
    r.topology = *any_topology(max_workers);
    r.arm = *any_text();
    r.repetition = *rc::gen::inRange(1, 1'000);
    r.has_shim = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
    r.identity_kind =
        *rc::gen::element(IdentityKind::kNone, IdentityKind::kNvml, IdentityKind::kHost, IdentityKind::kBoth);
    r.exercise = *rc::gen::element(Exercise::kCuInit, Exercise::kProbe, Exercise::kNvmlInit);
    r.node = *rc::gen::element(NodeKind::kSimulated, NodeKind::kReal, NodeKind::kUnknown);
    r.profile = *any_text();
    r.time_scale = *maybe(rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double x) { return x > 0; }));
    r.view = *rc::gen::element(NvmlView::kUnknown, NvmlView::kGlobal, NvmlView::kTranslated);
    r.isolation = *rc::gen::element(Isolation::kNone, Isolation::kPid);
    r.workload = *rc::gen::element(Workload::kInit, Workload::kContext);
    r.hold = *rc::gen::element(Hold::kNone, Hold::kAll);
    r.device_name = *any_text();
    r.driver_version = *any_text();
    r.devices = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<size_t>(0, 3), any_text());
    r.neighbours = *rc::gen::inRange(0, 65);
    r.broker = *rc::gen::arbitrary<bool>();
    r.processes_before =
        *maybe(rc::gen::container<std::vector<int64_t>>(*rc::gen::inRange<size_t>(0, 3), any_pid()));
    r.truth = *any_text();
    r.plan_sha256 = *any_text();
    r.started_at = *any_text();
    r.gate_opened_ns = *maybe(rc::gen::arbitrary<int64_t>());
    r.last_gone_ns = *maybe(rc::gen::arbitrary<int64_t>());
    r.collect_ns = *maybe(rc::gen::arbitrary<int64_t>());
    r.imported_from = *any_text();
    r.stated_wall_ns = *maybe(rc::gen::arbitrary<int64_t>());
    const auto benchmarks = *rc::gen::inRange(0, 3);
    for (int i = 0; i < benchmarks; ++i) r.benchmarks.push_back(*any_benchmark());
    const auto events = *rc::gen::inRange(0, 3);
    for (int i = 0; i < events; ++i) r.events.push_back({*any_text(), *any_text()});
    return r;
  });
}

// A run whose records need not fit it: too few, too many, twice the same,
// numbers beyond the topology. Half of the runs have one record for each worker,
// and most of their PIDs do not contradict each other.
inline rc::Gen<Run> any_run() {
  constexpr int kMaxWorkersHere = 8;
  return rc::gen::exec([] {
    Run run;
    run.record = *any_run_record(kMaxWorkersHere);
    const int workers = run.record.topology.workers();
    const bool orderly = *rc::gen::arbitrary<bool>();
    const int records = orderly ? workers : *rc::gen::inRange(0, workers + 3);
    for (int i = 0; i < records; ++i) {
      run.workers.push_back(*any_worker(workers));
      WorkerRecord& worker = run.workers.back();
      if (!orderly) continue;
      worker.worker = i;
      if (*rc::gen::inRange(0, 16) == 0) continue;
      worker.pid = i + 1;
      worker.nspid = {i + 1};
      worker.pid_namespace = 1;
      if (*rc::gen::arbitrary<bool>()) continue;
      worker.nspid.push_back(workers - i);
      worker.pid_namespace = 2;
    }
    return run;
  });
}

}  // namespace rollcall::property
