// The driver's own functions, found past every hook of ours, and the real dlsym.
#pragma once

#include "gpu/abi.h"
#include "gpu/nvml.h"

namespace rollcall::shim {

// Finds the real dlsym if it is not known yet. The assembler in dlsym_hook.cc
// needs it known before it jumps.
void know_real_dlsym();

// dlsym of the C library (or of the next preloaded library), never our own hook.
// The type is that of dlsym(3).
void* real_dlsym(void* handle, const char* name);

// A function of the driver: in the global scope after us, else from the
// libcuda.so.1 that is loaded, else from one that this loads. Null if none.
void* real_driver_function(const char* name);

}  // namespace rollcall::shim
