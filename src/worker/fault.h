// Faults on order, for tests of what a launcher does about them. A worker obeys
// the environment variable ROLLCALL_WORKER_FAULT, a comma-separated list of
// <worker>:<stage>:<action>: stage "start", "gate" (before it), "release" (just
// after it) or "finish" (its record is written,
// its evidence not yet read); action "crash" (SIGSEGV),
// "kill" (SIGKILL), "stop" (SIGSTOP) or "exit" (status 3). The launcher records
// the variable in the environment of the evidence, so a run with faults can
// never pass for one without.
#pragma once

#include <cstddef>

namespace rollcall::worker {

enum class FaultAction { kNone, kCrash, kKill, kStop, kExit };

// The action ordered for this worker at this stage; kNone also where the text
// is malformed.
FaultAction find_fault(const char* text, unsigned worker, const char* stage);

// Carries it out; returns only for kNone, or after a stop was continued.
void carry_out(FaultAction action);

}  // namespace rollcall::worker
