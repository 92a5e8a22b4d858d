// When the shim discovers: once in each process after cuInit, by the arm's algorithm;
// and, for the arm `tiered`, again with a context where a number is still missing.
#pragma once

#include "gpu/abi.h"
#include "shim/region.h"

namespace rollcall::shim {

// After a successful cuInit. Returns the slot of this process if this call made the
// discovery, else null.
RegionSlot* discover_at_init();

// After the application's own context was made or retained. Returns the slot of this
// process if this call discovered with it, else null.
RegionSlot* discover_with_context(gpu::CuContext context);

}  // namespace rollcall::shim
