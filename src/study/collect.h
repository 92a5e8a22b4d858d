// What the kernel says about one worker, read while it is alive and waiting:
// who it is, which threads it has and what is mapped into it.
#pragma once

#include <string>

#include "evidence/records.h"

namespace rollcall::study {

// What must be found in a worker's maps.
struct ExpectedLibraries {
  std::string shim;  // real path; empty for an arm without a shim
};

// Paths of the files that are mapped by /proc/PID/maps, from its text.
struct MappedLibraries {
  bool shim = false;
  std::string driver;  // path of the mapped libcuda.so.1, or else of NVML; empty if neither
};
MappedLibraries find_libraries(const std::string& maps, const ExpectedLibraries& expected);

// Fills start_time, pid_namespace, nspid, thread_ids, shim_loaded and
// driver_library of the record; its pid must be set. What cannot be read stays
// unset.
void collect_worker(const ExpectedLibraries& expected, evidence::WorkerRecord& record);

}  // namespace rollcall::study
