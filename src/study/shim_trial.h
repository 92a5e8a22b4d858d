// A foreign shim tried in one worker before an experiment begins: what cannot be
// loaded is one error now, not a folder of invalid runs later. Also finds out how to
// read what it discovers, where the plan leaves that open.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "study/launcher.h"
#include "study/paths.h"
#include "study/plan.h"

namespace rollcall::study {

// What became of the one worker.
struct TrialOutcome {
  evidence::WorkerRecord worker;
  std::string log;  // what it and the loader said; may be cut
};

// Why the shim cannot be used, or nothing. Pure. A worker that came as far as the gate
// shows that it could be loaded; what it does in cuInit is for the runs to show, except
// that a missing symbol is only found when it is called.
base::Result<void> judge_trial(const TrialOutcome& outcome, const Arm& arm);

// Tries every foreign shim of the plan and fills in an identity of kAuto. `real` as in
// RunSetup.
base::Result<void> try_shims(const Paths& paths, Plan& plan, const RealNode* real, int interrupt_fd);

}  // namespace rollcall::study
