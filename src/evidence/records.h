// The raw records of a run: what the launcher saw, and nothing derived from it.
// One RunRecord (run.json) and one WorkerRecord per worker (workers.jsonl).
// Classes, percentiles and validity are derived from these by src/analysis, so
// that they can be derived again. Times are integers in nanoseconds, so that
// parse(print(x)) == x to the last bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "evidence/topology.h"

namespace rollcall::evidence {

// What an arm's assigned number claims to be. See docs/evidence.md.
enum class IdentityKind { kNone, kNvml, kHost, kBoth };
enum class Workload { kInit, kContext };
enum class Hold { kNone, kAll };
enum class Isolation { kNone, kPid };
enum class NodeKind {
  kSimulated,
  kReal,
  kUnknown,  // imported logs do not say
};
// What a worker does before its workload.
enum class Exercise {
  kCuInit,    // cuInit
  kProbe,     // cuInit, then its primary context retained and released: the driver's own cost of a probe
  kNvmlInit,  // nvmlInit alone; nothing of CUDA
};
// How NVML numbers processes: by the initial namespace for everybody, or
// translated into the namespace of the caller.
enum class NvmlView { kUnknown, kGlobal, kTranslated };

// How a worker's life ended, as the launcher saw it.
enum class Fate {
  kFinished,     // did its work and left when it was told to
  kDied,         // ended by itself before that: a crash, a kill, an exit
  kDeadline,     // still there when its time was up; the launcher killed it
  kAborted,      // killed by the launcher because the run was given up
  kNotStarted,   // could not be forked
  kNotObserved,  // nobody watched it: imported logs
};

// The last stage that the worker itself reported.
enum class Stage { kNone, kStarted, kReady, kReleased, kInitialised, kFinished };

// What an identity source found out about what the shim discovered.
enum class DiscoveryState {
  kNoEvidence,     // nothing there: no slot, not read in time, source not applicable
  kAssigned,       // the shim claims a PID, or two: `assigned_pid`, `assigned_nvml_pid`
  kFailed,         // the shim says that it failed or gave up; `reason` says how
  kContradicting,  // two sources disagree
};

struct Discovery {
  DiscoveryState state = DiscoveryState::kNoEvidence;
  std::string source;  // the identity source that spoke: "rollcall", …
  // What it claims: one number, of the arm's identity kind; or, with the kind `both`, the
  // host PID and the NVML PID, of which one may be missing. None unless kAssigned.
  std::optional<int64_t> assigned_pid;
  std::optional<int64_t> assigned_nvml_pid;
  std::string tier;       // how assigned_pid was discovered, e.g. "snapshot-diff"; empty if unknown
  std::string nvml_tier;  // the same of assigned_nvml_pid
  // Why assigned_pid is missing; a code such as "equal_counts". nvml_reason: the same of
  // assigned_nvml_pid, with the kind `both` alone.
  std::string reason;
  std::string nvml_reason;
  std::optional<int64_t> added_ns;          // all time inside the shim less the real calls it wraps
  std::optional<int64_t> context_added_ns;  // the same for its hook on the first context

  friend bool operator==(const Discovery&, const Discovery&) = default;
};

struct WorkerRecord {
  int worker = 0;  // 0-based, unique in the run
  int cache = 0;

  // The truth, from the launcher and the kernel. pid is in the launcher's
  // namespace; nspid goes from there down to the worker's own.
  std::optional<int64_t> pid;
  std::optional<uint64_t> start_time;     // clock ticks since boot
  std::optional<uint64_t> pid_namespace;  // inode
  std::vector<int64_t> nspid;
  std::vector<int64_t> thread_ids;

  Fate fate = Fate::kNotStarted;
  Stage stage = Stage::kNone;
  std::optional<int> exit_code;    // set when it ended by exit
  std::optional<int> exit_signal;  // set when it ended by a signal
  std::string error;               // what the worker itself says went wrong; empty if nothing

  // What was mapped into it, from /proc/PID/maps.
  std::optional<bool> shim_loaded;  // unset: not read, or no shim in this arm
  std::string driver_library;       // path of the libcuda.so.1 that it used; empty if not seen

  // Durations, and moments counted from the opening of the gate.
  std::optional<int64_t> load_ns;      // duration: dlopen of the driver, before the gate
  std::optional<int64_t> released_ns;  // moment: it came out of the gate
  std::optional<int64_t> resolve_ns;   // duration: looking up cuInit
  std::optional<int64_t> cuinit_ns;    // duration
  std::optional<int> cuinit_result;    // CUresult; 0 is success
  std::optional<int64_t> context_ns;   // duration of retaining its own primary context; workload context only
  std::optional<int> context_result;   // CUresult
  std::optional<int64_t> control_ns;   // duration of the probe, or of nvmlInit; exercises of that kind only
  std::optional<int> control_result;   // CUresult of the probe, or nvmlReturn_t
  std::optional<int64_t> finished_ns;  // moment: its workload was done

  Discovery discovery;

  friend bool operator==(const WorkerRecord&, const WorkerRecord&) = default;
};

// Something that the launcher saw happen to the run as a whole. The codes that
// make a run invalid are listed in analysis/validity.h.
struct RunEvent {
  std::string code;  // "node_died", "stale_cache", …
  std::string detail;
  friend bool operator==(const RunEvent&, const RunEvent&) = default;
};

// What the workload's own benchmark printed about the workers of one cache: counts, and
// times as they stand there. Nothing is derived from its percentiles.
struct Benchmark {
  int cache = 0;
  std::string label{};  // of the later form of the line; empty: none
  int64_t n = 0;
  std::optional<int64_t> ok{};
  std::optional<int64_t> failed{};
  std::optional<int64_t> wall_ns{};
  std::optional<int64_t> span_ns{};
  std::optional<int64_t> mean_ns{};
  std::optional<int64_t> p50_ns{};
  std::optional<int64_t> p95_ns{};
  std::optional<int64_t> p99_ns{};
  std::optional<int64_t> min_ns{};
  std::optional<int64_t> max_ns{};
  std::optional<int64_t> mean_cpu_ns{};
  std::optional<int64_t> mean_wait_ns{};
  friend bool operator==(const Benchmark&, const Benchmark&) = default;
};

struct RunRecord {
  int number = 0;  // position in the experiment's order, from 1
  Topology topology;
  std::string arm{};
  int repetition = 0;  // "run" in the tables, from 1

  bool has_shim = false;
  IdentityKind identity_kind = IdentityKind::kNone;
  Exercise exercise = Exercise::kCuInit;
  NodeKind node = NodeKind::kSimulated;
  std::string profile{};               // name; empty on a real node
  std::optional<double> time_scale{};  // unset on a real node
  std::string device_name{};           // of the first GPU; empty on a simulated node
  std::string driver_version{};        // the same
  NvmlView view = NvmlView::kUnknown;
  Isolation isolation = Isolation::kNone;
  Workload workload = Workload::kInit;
  Hold hold = Hold::kNone;
  // CUDA_VISIBLE_DEVICES of the workers, dealt to the caches in turn; empty: not set.
  std::vector<std::string> devices{};
  int neighbours = 0;   // processes without a shim that came and went meanwhile
  bool broker = false;  // the launcher ran a broker of its own for this run
  // PIDs that NVML listed before the first worker; unset: not asked (simulated node).
  std::optional<std::vector<int64_t>> processes_before{};
  // Who says which PID is whose: "launcher", or "log" for imported logs without its record.
  std::string truth = "launcher";
  // What the run was read from, "hami-logs"; empty: made by `rollcall run`. Nobody watched an
  // imported run, so it is not held to what only a launcher can see.
  std::string imported_from{};
  std::string plan_sha256{};  // of the plan.json that this run belongs to
  std::string started_at{};   // UTC, ISO 8601; dates the evidence, measures nothing

  std::optional<int64_t> gate_opened_ns{};  // since the first fork
  std::optional<int64_t> last_gone_ns{};    // since the first fork: the last worker was gone
  std::optional<int64_t> collect_ns{};      // of that, collecting evidence after the last worker had finished
  // External wall time that a person stated for an imported run; unset where there is none.
  std::optional<int64_t> stated_wall_ns{};
  std::vector<Benchmark> benchmarks{};  // imported runs only; by cache, several where several were printed
  std::vector<RunEvent> events{};

  [[nodiscard]] bool imported() const { return !imported_from.empty(); }

  // Whether its workers discover anything that could be judged: not without a shim, and not
  // where the shim is only timed.
  [[nodiscard]] bool discovers() const { return has_shim && identity_kind != IdentityKind::kNone; }

  // "<nnn>-<topology>-<arm>-r<run>": its id in the tables and its folder's name.
  [[nodiscard]] std::string id() const;

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

struct Run {
  RunRecord record;
  std::vector<WorkerRecord> workers;
  friend bool operator==(const Run&, const Run&) = default;
};

std::string run_id(int number, const Topology& topology, std::string_view arm, int repetition);

// The words that stand for the enumerators in files and on the command line
// ("init", "none", "translated", …), and back.
std::string_view to_text(IdentityKind value);
std::string_view to_text(Exercise value);
std::string_view to_text(Workload value);
std::string_view to_text(Hold value);
std::string_view to_text(Isolation value);
std::string_view to_text(NodeKind value);
std::string_view to_text(NvmlView value);
std::string_view to_text(Fate value);
std::string_view to_text(Stage value);
std::string_view to_text(DiscoveryState value);
template <typename Enum>
std::optional<Enum> from_text(std::string_view text);

// One run as the text of run.json, and back. Unknown keys are an error: a file
// that says more than we understand must not be read as if it said less.
std::string print_run(const RunRecord& record);
base::Result<RunRecord> parse_run(std::string_view json, const std::string& where);

// One worker as one line of workers.jsonl (without the newline), and back.
std::string print_worker(const WorkerRecord& record);
base::Result<WorkerRecord> parse_worker(std::string_view json, const std::string& where);

}  // namespace rollcall::evidence
