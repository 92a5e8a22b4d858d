// Whether this machine lets us start as many workers as the plan wants, asked
// before the first one is started: a study that dies of a limit in the middle
// has wasted everybody's time, and fork's own error names no limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace rollcall::study {

// What the machine says; unset: no such limit, or it cannot be read.
struct ProcessLimits {
  std::optional<uint64_t> open_files_soft;
  std::optional<uint64_t> open_files_hard;
  std::optional<uint64_t> user_processes;       // RLIMIT_NPROC; unset for a user that it does not bind
  std::optional<uint64_t> user_processes_used;  // tasks of this user now
  std::optional<uint64_t> pid_max;              // /proc/sys/kernel/pid_max
  std::optional<uint64_t> cgroup_tasks;         // pids.max of our control group
  std::optional<uint64_t> cgroup_tasks_used;
};

ProcessLimits read_process_limits();

// Client processes that the simulated node must have room for: the workers, and
// some to spare.
int node_clients(int workers);

// The largest of a plan's runs, as far as limits go.
struct RunSize {
  int workers = 0;
  int caches = 0;
  int namespaces = 0;  // 0 without isolation
};

// Descriptors that a run of that size needs in one process: in the launcher a
// pidfd for each worker, a log for each cache, a pidfd and the way in for each
// namespace, and some for itself; in simgpud what its clients need. The limit holds for
// each process, so the larger counts.
uint64_t needed_descriptors(const RunSize& size);

// One error naming the limit, what is needed, what was found and what to set;
// nothing if the run fits.
base::Result<void> check_limits(const ProcessLimits& limits, const RunSize& size);

// Raises the soft limit of open files to what is needed; check_limits has shown
// that the hard one allows it.
base::Result<void> raise_open_files(uint64_t needed);

}  // namespace rollcall::study
