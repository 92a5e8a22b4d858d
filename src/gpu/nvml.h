// NVML as an identity discovery needs it: load it, pick a device, list who
// computes there. libc only, no allocation, no global state; every function can
// be called from any thread that owns the Nvml value.
#pragma once

#include <cstddef>

#include "gpu/abi.h"

namespace rollcall::gpu {

// How to look a symbol up. Passed in because a preload library that interposes
// dlsym must not fall into its own hook.
using LookupFn = void* (*)(void* handle, const char* name);

struct Nvml {
  NvmlInitFn init = nullptr;
  NvmlShutdownFn shutdown = nullptr;
  NvmlDeviceGetHandleByIndexFn device_by_index = nullptr;
  NvmlDeviceGetComputeRunningProcessesFn compute_processes_v1 = nullptr;
};

// Loads libnvidia-ml.so.1 (or finds it loaded) and looks up what Nvml holds: the
// _v2 names where they exist, else the unsuffixed ones. False if the library or
// a function is missing. The library stays loaded: others may hold its pointers.
bool load_nvml(LookupFn lookup, Nvml* nvml);

// Lists the PIDs that compute on `device`, in the order in which NVML gives
// them, through the first form of the call (16-byte entries), whose layout never
// changed between drivers. Returns NVML's status; on success *count is the
// number of PIDs written to `pids`, at most kNvmlMaxProcesses, which is what
// `pids` must have room for.
NvmlReturn list_compute_pids(const Nvml& nvml, NvmlDevice device, NvmlProcessInfoV1* scratch, unsigned* pids,
                             unsigned* count);

}  // namespace rollcall::gpu
