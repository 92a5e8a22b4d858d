// One run: fresh caches and a fresh node, N workers to the start gate, the gate
// opened for all at once, each worker's evidence read while it lives, everybody
// gone, and only then reaped. Whatever happens to a worker costs its own record,
// never the run; what happens to the run as a whole becomes an event in its
// record. The result is raw: no class, no percentile, no verdict.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "evidence/records.h"
#include "study/arms.h"
#include "study/paths.h"
#include "study/plan.h"
#include "study/program_stamps.h"
#include "study/schedule.h"

namespace rollcall::study {

// How far a run is, for whoever shows it.
struct RunProgress {
  const char* phase = "";  // "starting", "at the gate", "running", "leaving"
  int workers = 0;
  int reached = 0;  // of them, how many are through this phase
};

// What was observed of a real node's driver when the experiment started.
struct RealNode {
  std::string device_name;  // of the first device
  std::string driver_version;
  evidence::NvmlView view = evidence::NvmlView::kUnknown;
  // The launcher's PID namespace is the kernel's initial one.
  bool in_initial_namespace = false;
  // Whether NVML lists a process of the launcher's PID namespace to itself under its own
  // getpid(); unset: could not be told.
  std::optional<bool> lists_launcher_numbers;
};

struct RunSetup {
  const Plan* plan = nullptr;
  const Paths* paths = nullptr;
  PlannedRun run;
  Arm arm;
  std::string plan_sha256;
  const ProgramStamps* stamps = nullptr;  // of the experiment's start; null in a trial
  const RealNode* real = nullptr;         // set exactly for a real node
  bool trial = false;             // of a shim, before the experiment: who else is on the GPU does not matter
  std::filesystem::path working;  // an empty folder with logs/ and regions/
  int interrupt_fd = -1;          // becomes readable when the user wants to stop; -1: never
  std::function<void(const RunProgress&)> progress;
};

// An error means that there is no run: the machine refused, or the user
// interrupted (error.what == kInterrupted). No process of the run is left then,
// and nothing in `working` is worth keeping.
inline constexpr const char* kInterrupted = "interrupted";
base::Result<evidence::Run> execute_run(const RunSetup& setup);

}  // namespace rollcall::study
