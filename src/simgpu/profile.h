// A profile: what a simulated node is like. Service times of the driver's
// operations, the device's sizes, and faults to inject. Read from TOML
// (profiles/*.toml, or a file of the user's). docs/simulated-node.md explains
// the model and how the profiles were fitted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace rollcall::simgpu {

// The cost of one driver operation, at time scale 1. A part that every process
// pays for itself, in parallel, then a part that is served one at a time for
// the whole node. The serial part grows with those alive, and is one step higher
// while a crowd waits for the lock: with a hundred at once, cuInit takes more than
// twice as long for each process as with fifty or fewer.
struct OperationCost {
  double parallel_ms = 0;
  double serial_ms = 0;
  double per_client_ms = 0;   // serial, for each process that has initialised and lives
  double per_context_ms = 0;  // serial, for each context alive on the node
  int crowd_waiting = 0;      // so many that wait for the lock behind an operation are a crowd
  double crowded_ms = 0;      // serial, with a crowd waiting
};

// What a process does instead of answering; for tests of what a launcher does
// about it. `nth` counts the cuInit calls that reach the node, from 1.
enum class FaultAction { kCrash, kStop, kExit, kKill, kFail };
struct Fault {
  int nth_cuinit = 0;
  FaultAction action = FaultAction::kCrash;
};

// How NVML behaves where drivers differ.
struct NvmlBehaviour {
  bool process_memory = true;  // false: usedGpuMemory is unknown (all ones), as under WDDM and some vGPUs
  bool lists_threads = false;  // lists the thread that called cuInit, not the process, as seen on 560
  bool persistence = true;     // what the persistence mode is said to be
  bool refuse = false;         // nvmlInit: no permission
};

struct Profile {
  std::string name;
  std::string description;

  int gpus = 1;  // 0: a driver that finds no device
  std::string device_name;
  uint64_t memory_mib = 0;
  uint64_t context_mib = 0;      // what one context takes
  uint64_t granularity_kib = 0;  // allocations are rounded up to it
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int cuda_version = 0;        // as cuDriverGetVersion gives it, 12040 for 12.4
  std::string driver_version;  // as nvmlSystemGetDriverVersion gives it

  double jitter = 0;  // each service time is multiplied by 1 ± jitter, uniformly

  OperationCost cuinit;
  OperationCost context_create;   // also the first retain of the primary context
  OperationCost context_destroy;  // also its last release
  OperationCost memory;           // allocate and free
  OperationCost nvml_init;
  OperationCost nvml_query;  // lists, memory info, utilisation

  NvmlBehaviour nvml;

  std::vector<Fault> faults;
};

// Errors carry file, line, column and, for an unknown key, the nearest valid one.
base::Result<Profile> parse_profile(const std::string& toml, const std::string& where);
base::Result<Profile> load_profile(const std::filesystem::path& file);

// NAME is looked up as <profile_dir>/NAME.toml; anything with a '/' or ending in
// ".toml" is a file. An unknown name is a usage error that lists the names and
// suggests the nearest.
base::Result<std::filesystem::path> find_profile(const std::string& name_or_file,
                                                 const std::filesystem::path& profile_dir);

}  // namespace rollcall::simgpu
