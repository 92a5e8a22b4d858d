// What the shim costs its host: all the time spent inside it, less the real
// calls that it wraps, summed over the hooks of this process.
#pragma once

#include <cstdint>

namespace rollcall::shim {

void add_time(int64_t ns);
int64_t added_time_ns();

}  // namespace rollcall::shim
