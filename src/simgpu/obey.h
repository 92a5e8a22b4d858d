// Carries out an order of simgpud in the process that called cuInit: the faults
// of a profile (docs/simulated-node.md). The process does it to itself, so that
// what a launcher sees is the real thing: a real SIGSEGV, a real stop.
#pragma once

#include "simgpu/protocol.h"

namespace rollcall::simgpu {

void obey(Order order);

}  // namespace rollcall::simgpu
