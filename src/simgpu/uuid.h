// The UUID of a simulated GPU follows from its index alone, so that the two
// stand-in libraries agree on it without asking anybody, and so that it is the
// same on every node and in every run. libc only: part of the stand-ins.
#pragma once

#include <cstddef>

#include "gpu/abi.h"

namespace rollcall::simgpu {

// "GPU-" and 8-4-4-4-12 hexadecimal digits, with the closing NUL.
inline constexpr size_t kUuidTextSize = 4 + 36 + 1;

gpu::CuUuid gpu_uuid(unsigned gpu);
void format_uuid(const gpu::CuUuid& uuid, char (&text)[kUuidTextSize]);

}  // namespace rollcall::simgpu
