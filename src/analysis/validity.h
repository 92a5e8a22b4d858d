// Whether a run may be believed, and if not, why: reason codes, derived from
// the raw records alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

// Whether a driver library is a stand-in of the simulated node, by its place.
bool is_stand_in(const std::filesystem::path& library);

// The codes, each once, in alphabetical order; empty means valid.
//   aborted           the run was given up before its end
//   broker_died       the broker of the run ended by itself before its workers had
//   cuinit_failed     a worker's cuInit (or, in the workload context, its
//                     context) did not return success; of a worker that
//                     finished also if it is not known
//   control_failed    a worker's probe or nvmlInit (the control arms) did not succeed, or
//                     it is not known whether it did
//   deadline          a worker or the run outlived its deadline
//   gate_skew         real node only: the workers left the gate further apart
//                     than max(50 ms, 10 % of the span)
//   inconsistent_record  a record contradicts itself: a negative or absurdly long
//                     time, or a worker that "finished" without a time, with another
//                     stage, or by a signal
//   namespace_died    the first process of a namespace of --isolate pid ended by itself, and so
//                     all in it
//   node_died         the simulated node ended in the middle
//   not_started       a worker could not be forked
//   log_not_kept      a log of the workers was removed, replaced or too large to keep
//   gpu_not_idle      real node only: NVML listed processes before the run
//   idle_not_known    real node only: whether it did could not be asked, or others cannot
//                     be seen from here
//   launcher_not_in_host_namespace  real node only: NVML numbers processes as another
//                     PID namespace than the launcher's does
//   neighbours_failed the neighbours could not be kept going
//   numbering_not_known  real node only: the arm's numbers are NVML's, and how NVML numbers
//                     processes here could not be measured
//   out_of_memory     CUDA_ERROR_OUT_OF_MEMORY (2) in a worker, or in its shim
//   log_not_read      imported: a log could not be read
//   nothing_observed  imported: a run without a shim of which nothing tells a result
//   pid_reused        a worker's start time changed while it was observed, or two
//                     workers have one PID
//   processes_left    processes outlived the workers that started them, and were ended
//   program_changed   a program or library of the experiment is another than at its start
//   result_missing    imported: the launcher's list has results of cuInit, and none for some worker
//   shim_in_native_arm  imported: HAMi-core spoke in an arm without a shim
//   too_many_speakers imported: more PIDs spoke than there are workers, and no launcher's list
//                     says which of them those are
//   topology_differs  imported: a benchmark line is of another number of workers
//   records_missing   fewer or other workers have records than the topology has,
//                     or a record names another cache
//   scratch_not_removed  what a run needed beside its folder could not be removed
//   shim_not_loaded   a worker of a shim arm finished without the shim mapped,
//                     or it could not be observed whether it was
//   region_not_kept   a cache file could not be copied into the evidence
//   stale_cache       a cache file existed before its run
//   worker_died       a worker ended before it was told to
//   wrong_driver      a worker that finished did not use the stand-in driver library
//                     of the simulated node; on a real node, that it did, or that the
//                     library is not known
// An event of any other code makes the run invalid under that code.
std::vector<std::string> invalid_reasons(const evidence::Run& run);

}  // namespace rollcall::analysis
