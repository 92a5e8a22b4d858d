// One world drawn from a seed, one discovery in it, and what is wrong with what it says.
// The world knows the truth: by which number the host knows this process, and by which
// NVML lists it to itself.
#pragma once

#include <cstdint>
#include <string>

#include "hostpid/tiers.h"
#include "model/situations.h"

namespace rollcall::model {

struct Verdict {
  std::string wrong;  // empty: nothing is
  bool claimed = false;
};

Verdict discover_in_world(uint64_t seed, Situations* situations, hostpid::ChallengeMemory* memory);

// `count` of them, from `first` on; each has its own seed, drawn from `seed` and its
// number, so that one can be had again alone.
struct Exploration {
  uint64_t seed = 0;
  uint64_t discoveries = 0;
  uint64_t claims = 0;  // that ended with a PID
  uint64_t wrong = 0;
  std::string first_wrong;  // with its number
  Situations situations;
};
Exploration explore(uint64_t seed, uint64_t first, uint64_t count);

}  // namespace rollcall::model
