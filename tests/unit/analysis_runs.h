// Runs as a test wants them: one in which everything went right, and the ways
// to make something in it go wrong. A test then says only what differs.
#pragma once

#include <cstdint>
#include <string>

#include "evidence/records.h"

namespace rollcall::test {

inline constexpr uint64_t kLaunchersNamespace = 4026531836;
inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

inline int64_t pid_of(int worker) {
  return 1000 + worker;
}
inline int64_t thread_of(int worker) {
  return 50'000 + worker;
}

// A valid run on the simulated node: every worker finished and, under a shim,
// discovered its own PID.
inline evidence::Run good_run(const std::string& topology, const std::string& arm, int number = 1,
                              int repetition = 1) {
  evidence::Run run;
  run.record.number = number;
  run.record.topology = evidence::Topology::parse(topology).value();
  run.record.arm = arm;
  run.record.repetition = repetition;
  run.record.has_shim = !arm.starts_with("native");
  run.record.identity_kind =
      run.record.has_shim ? evidence::IdentityKind::kNvml : evidence::IdentityKind::kNone;
  run.record.profile = "study";
  run.record.time_scale = 0.05;
  run.record.view = evidence::NvmlView::kGlobal;
  run.record.gate_opened_ns = kSecond;
  run.record.last_gone_ns = 20 * kSecond;
  run.record.collect_ns = 2 * kSecond;
  for (int i = 0; i < run.record.topology.workers(); ++i) {
    evidence::WorkerRecord worker;
    worker.worker = i;
    worker.cache = run.record.topology.cache_of(i);
    worker.pid = pid_of(i);
    worker.start_time = 77;
    worker.pid_namespace = kLaunchersNamespace;
    worker.nspid = {pid_of(i)};
    worker.thread_ids = {pid_of(i), thread_of(i)};
    worker.fate = evidence::Fate::kFinished;
    worker.stage = evidence::Stage::kFinished;
    worker.exit_code = 0;
    worker.driver_library = "/usr/lib/rollcall/sim/libcuda.so.1";
    worker.released_ns = kMs;
    worker.resolve_ns = kMs;
    worker.cuinit_ns = (i + 1) * 10 * kMs;
    worker.cuinit_result = 0;
    worker.finished_ns = (i + 1) * 20 * kMs;
    if (run.record.has_shim) {
      worker.shim_loaded = true;
      worker.discovery.state = evidence::DiscoveryState::kAssigned;
      worker.discovery.source = "rollcall";
      worker.discovery.tier = "snapshot-diff";
      worker.discovery.assigned_pid = pid_of(i);
    }
    run.workers.push_back(worker);
  }
  return run;
}

inline void assign(evidence::Run& run, int worker, int64_t pid) {
  evidence::Discovery& discovery = run.workers.at(static_cast<size_t>(worker)).discovery;
  discovery.state = evidence::DiscoveryState::kAssigned;
  discovery.assigned_pid = pid;
}

// Without a claim; see the states of evidence::Discovery.
inline void unassign(evidence::Run& run, int worker, evidence::DiscoveryState state) {
  evidence::Discovery& discovery = run.workers.at(static_cast<size_t>(worker)).discovery;
  discovery.state = state;
  discovery.assigned_pid.reset();
}

// A run of an arm that claims two numbers: every worker knows both, by the broker.
inline evidence::Run good_tiered_run(const std::string& topology, int number = 1, int repetition = 1) {
  auto run = good_run(topology, "tiered", number, repetition);
  run.record.identity_kind = evidence::IdentityKind::kBoth;
  for (evidence::WorkerRecord& worker : run.workers) {
    worker.discovery.tier = worker.discovery.nvml_tier = "broker";
    worker.discovery.assigned_nvml_pid = worker.discovery.assigned_pid;
  }
  return run;
}

// That number is not known, for the reason. Where the other is not known either, the shim
// says that it failed.
inline void forget_host(evidence::Run& run, int worker, const std::string& reason) {
  evidence::Discovery& discovery = run.workers.at(static_cast<size_t>(worker)).discovery;
  discovery.assigned_pid.reset();
  discovery.tier.clear();
  discovery.reason = reason;
  if (!discovery.assigned_nvml_pid) discovery.state = evidence::DiscoveryState::kFailed;
}
inline void forget_nvml(evidence::Run& run, int worker, const std::string& reason) {
  evidence::Discovery& discovery = run.workers.at(static_cast<size_t>(worker)).discovery;
  discovery.assigned_nvml_pid.reset();
  discovery.nvml_tier.clear();
  discovery.nvml_reason = reason;
  if (!discovery.assigned_pid) discovery.state = evidence::DiscoveryState::kFailed;
}
inline void forget_both(evidence::Run& run, int worker, const std::string& host, const std::string& nvml) {
  forget_host(run, worker, host);
  forget_nvml(run, worker, nvml);
}

// Puts each cache into a PID namespace of its own, where its workers are 2, 3, 4, …
inline void isolate(evidence::Run& run, evidence::NvmlView view) {
  run.record.isolation = evidence::Isolation::kPid;
  run.record.view = view;
  for (evidence::WorkerRecord& worker : run.workers) {
    const int inside = 2 + worker.worker % run.record.topology.workers_per_cache();
    worker.pid_namespace = 9000 + static_cast<uint64_t>(worker.cache);
    worker.nspid = {*worker.pid, inside};
  }
}

}  // namespace rollcall::test
