// The real world: the kernel's clock, randomness and /proc.
#pragma once

#include "hostpid/types.h"

namespace rollcall::hostpid {

Clock system_clock();
RandomSource system_random();
Kernel system_kernel();

}  // namespace rollcall::hostpid
