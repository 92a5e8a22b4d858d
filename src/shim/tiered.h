// The arm `tiered`: libhostpid at cuInit (namespace and broker, microseconds), and its
// challenge with the application's own context where no broker told how NVML numbers.
// Fills the slot; never makes a context of its own.
#pragma once

#include <cstdint>

#include "gpu/abi.h"
#include "shim/region.h"
#include "shim/settings.h"

namespace rollcall::shim {

// At cuInit. deadline_ns: CLOCK_MONOTONIC, of all that it waits for.
void discover_tiered(const Settings& settings, int64_t deadline_ns, RegionSlot* slot);

// Whether a context may still tell something: the NVML PID is not known, asking again can
// help, and it was not asked too often.
bool wants_challenge(const RegionSlot& slot);

// With a context of the application's own.
void challenge_tiered(const Settings& settings, gpu::CuContext context, RegionSlot* slot);

}  // namespace rollcall::shim
