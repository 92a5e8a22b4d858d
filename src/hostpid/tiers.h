// The order of the tiers: first proof wins, each PID for itself. Pure but for the
// world that it is given; the C API and the tests both run this.
#pragma once

#include "hostpid/broker_client.h"
#include "hostpid/challenge.h"
#include "hostpid/types.h"

namespace rollcall::hostpid {

// How the challenge reaches a device: everything that can refuse before its first
// round (functions missing, MIG, MPS, no pairing) is decided by prepare.
struct ChallengeSite {
  void* self = nullptr;
  // Pairs the context's device with NVML's, makes the context current and fills
  // *driver and *memory; kNone if the challenge may begin.
  Reason (*prepare)(void* self, ChallengeDriver* driver, ChallengeMemory** memory) = nullptr;
  // Puts back what prepare changed; called exactly when prepare was.
  void (*restore)(void* self) = nullptr;
};

struct World {
  Clock clock;
  RandomSource random;
  Kernel kernel;
  BrokerSocket socket;
  ChallengeSite challenge;  // prepare is null where there is no context
};

// `options` are valid, `result` is filled whole but for elapsed_ns.
void discover(const hostpid_options& options, const World& world, hostpid_result* result);

}  // namespace rollcall::hostpid
