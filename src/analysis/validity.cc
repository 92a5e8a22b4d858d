// Each rule looks at the raw records and adds its code to a set; so the order
// of the rules and of the records cannot matter. A worker that finished is
// held to all that a finished worker must show: what it does not show is not
// taken for granted.
#include "analysis/validity.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/clock.h"

namespace rollcall::analysis {
namespace {

using evidence::Fate;
using evidence::Run;
using evidence::WorkerRecord;
using Codes = std::set<std::string>;

constexpr int kCudaSuccess = 0;
constexpr int kCudaErrorOutOfMemory = 2;

constexpr int64_t kMinGateSkewNs = 50 * base::kNsPerMs;
constexpr int64_t kGateSkewSpanPart = 10;  // a tenth of the span

void check_fate(const WorkerRecord& worker, Codes& codes) {
  switch (worker.fate) {
    case Fate::kFinished:
    case Fate::kNotObserved:
      break;
    case Fate::kDied:
      codes.insert("worker_died");
      break;
    case Fate::kDeadline:
      codes.insert("deadline");
      break;
    case Fate::kAborted:
      codes.insert("aborted");
      break;
    case Fate::kNotStarted:
      codes.insert("not_started");
      break;
  }
}

void check_result(std::optional<int> result, bool must_be_known, Codes& codes) {
  if (result ? *result != kCudaSuccess : must_be_known) codes.insert("cuinit_failed");
  if (result == kCudaErrorOutOfMemory) codes.insert("out_of_memory");
}

// As our own shim names it in its slot.
constexpr const char* kShimOutOfMemory = "out_of_memory";

void check_control(const WorkerRecord& worker, evidence::Exercise exercise, Codes& codes) {
  if (exercise == evidence::Exercise::kCuInit) return;
  const bool must_be_known = worker.fate == Fate::kFinished;
  if (worker.control_result ? *worker.control_result != kCudaSuccess : must_be_known) {
    codes.insert("control_failed");
  }
  // NVML's codes are others than CUDA's; only the probe's 2 means memory.
  if (exercise == evidence::Exercise::kProbe && worker.control_result == kCudaErrorOutOfMemory) {
    codes.insert("out_of_memory");
  }
}

// Nothing that we measure lasts longer: the longest deadline is a week.
constexpr int64_t kLongestNs = 8LL * 24 * 3600 * base::kNsPerSecond;

bool is_possible(std::optional<int64_t> ns) {
  return !ns || (*ns >= 0 && *ns <= kLongestNs);
}

bool agrees_with_itself(const Run& run, const WorkerRecord& worker) {
  for (const auto& ns : {worker.load_ns, worker.released_ns, worker.resolve_ns, worker.cuinit_ns,
                         worker.context_ns, worker.control_ns, worker.finished_ns, worker.discovery.added_ns,
                         worker.discovery.context_added_ns}) {
    if (!is_possible(ns)) return false;
  }
  if (worker.fate != Fate::kFinished) return true;
  const bool left_well = worker.stage == evidence::Stage::kFinished && worker.exit_code == 0 &&
                         !worker.exit_signal && worker.finished_ns;
  const bool timed = !worker.cuinit_result || worker.cuinit_ns;
  const bool context_timed = run.record.workload != evidence::Workload::kContext ||
                             worker.context_result != kCudaSuccess || worker.context_ns;
  const bool control_timed = !worker.control_result || worker.control_ns;
  return left_well && timed && context_timed && control_timed;
}

void check_agreement(const Run& run, Codes& codes) {
  const auto& record = run.record;
  bool agrees = is_possible(record.gate_opened_ns) && is_possible(record.last_gone_ns) &&
                is_possible(record.collect_ns) &&
                record.collect_ns.value_or(0) <= record.last_gone_ns.value_or(kLongestNs);
  for (const WorkerRecord& worker : run.workers) agrees = agrees && agrees_with_itself(run, worker);
  if (!agrees) codes.insert("inconsistent_record");
}

void check_worker(const Run& run, const WorkerRecord& worker, Codes& codes) {
  check_fate(worker, codes);
  const bool finished = worker.fate == Fate::kFinished;
  const bool wants_context = run.record.workload == evidence::Workload::kContext;
  const evidence::Exercise exercise = run.record.exercise;
  const bool wants_cuda = exercise != evidence::Exercise::kNvmlInit;
  check_result(worker.cuinit_result, finished && wants_cuda, codes);
  check_result(worker.context_result, finished && wants_context, codes);
  check_control(worker, exercise, codes);
  if (worker.discovery.reason == kShimOutOfMemory) codes.insert("out_of_memory");
  if (!finished) return;
  if (run.record.has_shim && !worker.shim_loaded.value_or(false)) codes.insert("shim_not_loaded");
  const bool simulated = run.record.node == evidence::NodeKind::kSimulated;
  if (worker.driver_library.empty() || is_stand_in(worker.driver_library) != simulated) {
    codes.insert("wrong_driver");
  }
}

// Of native workers only a launcher knows: they say nothing.
bool needs_records(const Run& run) {
  return !run.record.imported() || run.record.has_shim || run.record.truth == "launcher";
}

void check_benchmarks(const Run& run, Codes& codes) {
  for (const evidence::Benchmark& benchmark : run.record.benchmarks) {
    if (benchmark.failed.value_or(0) > 0) codes.insert("cuinit_failed");
  }
}

void check_records(const Run& run, Codes& codes) {
  std::set<int> workers;
  std::set<int64_t> pids;
  for (const WorkerRecord& worker : run.workers) {
    const bool expected = worker.worker >= 0 && worker.worker < run.record.topology.workers() &&
                          worker.cache == run.record.topology.cache_of(worker.worker);
    if (!expected || !workers.insert(worker.worker).second) codes.insert("records_missing");
    if (worker.pid && !pids.insert(*worker.pid).second) codes.insert("pid_reused");
  }
  if (needs_records(run) && workers.size() != static_cast<size_t>(run.record.topology.workers()))
    codes.insert("records_missing");
}

void check_gate_skew(const Run& run, Codes& codes) {
  if (run.record.node != evidence::NodeKind::kReal) return;
  std::optional<int64_t> first;
  std::optional<int64_t> last;
  int64_t span = 0;
  for (const WorkerRecord& worker : run.workers) {
    if (worker.finished_ns) span = std::max(span, *worker.finished_ns);
    if (!worker.released_ns) continue;
    first = std::min(first.value_or(*worker.released_ns), *worker.released_ns);
    last = std::max(last.value_or(*worker.released_ns), *worker.released_ns);
  }
  int64_t skew = 0;
  if (!first) return;
  const bool unbounded = __builtin_sub_overflow(*last, *first, &skew);
  if (unbounded || skew > std::max(kMinGateSkewNs, span / kGateSkewSpanPart)) codes.insert("gate_skew");
}

// Without a shim there are no classes that could say so: an imported run of which no worker and
// no benchmark tells a result shows nothing.
void check_observed(const Run& run, Codes& codes) {
  if (!run.record.imported() || run.record.has_shim || !run.record.benchmarks.empty()) return;
  const bool observed = std::any_of(run.workers.begin(), run.workers.end(), [](const WorkerRecord& worker) {
    return worker.cuinit_result || worker.finished_ns;
  });
  if (!observed) codes.insert("nothing_observed");
}

}  // namespace

// The stand-in driver lies in lib/rollcall/sim, in the build tree as in an
// installation; no real driver does.
bool is_stand_in(const std::filesystem::path& library) {
  const auto folder = library.parent_path();
  return folder.filename() == "sim" && folder.parent_path().filename() == "rollcall";
}

std::vector<std::string> invalid_reasons(const Run& run) {
  Codes codes;
  for (const evidence::RunEvent& event : run.record.events) codes.insert(event.code);
  for (const WorkerRecord& worker : run.workers) check_worker(run, worker, codes);
  check_records(run, codes);
  check_benchmarks(run, codes);
  check_agreement(run, codes);
  check_gate_skew(run, codes);
  check_observed(run, codes);
  return {codes.begin(), codes.end()};
}

}  // namespace rollcall::analysis
