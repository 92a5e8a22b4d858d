// The legacy discovery: HAMi-core's algorithm, rebuilt from its description and
// measured behaviour, as an arm to measure against. It is never a way to find
// an identity that anybody should rely on.
#pragma once

#include <cstdint>

#include "gpu/nvml.h"
#include "shim/region.h"
#include "shim/settings.h"

namespace rollcall::shim {

// The driver's own functions, past every hook; any may be null.
struct ProbeDriver {
  gpu::LookupFn lookup = nullptr;
  gpu::CuDeviceGetFn device_get = nullptr;
  gpu::CuDevicePrimaryCtxRetainFn retain = nullptr;
  gpu::CuDevicePrimaryCtxReleaseFn release = nullptr;
};

// After a successful cuInit: waits for the lock (of the cache, or of the node),
// lists the processes of NVML's device 0, makes a probe context on CUDA's device
// 0, lists again, writes what it concludes into the caller's slot, drops context
// and lock. Every end is written into the slot.
void discover_legacy(const Settings& settings, const ProbeDriver& driver, Region* region);

}  // namespace rollcall::shim
