// Whether a run may be believed, and if not, why: reason codes, derived from
// the raw records alone.
#pragma once

#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

// The codes, each once, in alphabetical order; empty means valid.
//   aborted           the run was given up before its end
//   cuinit_failed     a worker's cuInit (or, in the workload context, its
//                     context) did not return success; of a worker that
//                     finished also if it is not known
//   deadline          a worker or the run outlived its deadline
//   gate_skew         real node only: the workers left the gate further apart
//                     than max(50 ms, 10 % of the span)
//   inconsistent_record  a record contradicts itself: a negative or absurdly long
//                     time, or a worker that "finished" without a time, with another
//                     stage, or by a signal
//   node_died         the simulated node ended in the middle
//   not_started       a worker could not be forked
//   out_of_memory     CUDA_ERROR_OUT_OF_MEMORY (2) in a worker
//   pid_reused        a worker's start time changed while it was observed, or two
//                     workers have one PID
//   records_missing   fewer or other workers have records than the topology has,
//                     or a record names another cache
//   shim_not_loaded   a worker of a shim arm finished without the shim mapped,
//                     or it could not be observed whether it was
//   stale_cache       a cache file existed before its run
//   worker_died       a worker ended before it was told to
//   wrong_driver      simulated node only: a worker that finished did not use
//                     the stand-in driver library
// An event of any other code makes the run invalid under that code.
std::vector<std::string> invalid_reasons(const evidence::Run& run);

}  // namespace rollcall::analysis
