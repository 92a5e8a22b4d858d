// What the shim is told through the environment. It does nothing at all unless
// it is told to: a preloaded library must be harmless where it was left behind.
#pragma once

#include <cstdint>

namespace rollcall::shim {

enum class Discovery { kOff, kLegacy, kLegacyNodeLock, kTiered };

struct Settings {
  Discovery discovery = Discovery::kOff;
  const char* cache_path = nullptr;      // the region file; null: no discovery
  const char* node_lock_path = nullptr;  // for kLegacyNodeLock
  int64_t lock_timeout_ns = 0;
  const char* broker_path = nullptr;   // for kTiered; null: no broker is asked
  uint32_t broker_uid = 0;             // who may own it
  uint32_t deadline_ms = 0;            // for kTiered: of all that cuInit waits for
  uint32_t challenge_deadline_ms = 0;  // for kTiered: of the challenge at a context
  bool log = false;
};

// The variables:
//   ROLLCALL_SHIM_DISCOVERY        legacy | legacy-node-lock | tiered; anything else: off
//   CUDA_DEVICE_MEMORY_SHARED_CACHE  the cache file, as HAMi-core names it
//   ROLLCALL_SHIM_NODE_LOCK        the lock file of the whole node
//   ROLLCALL_SHIM_LOCK_TIMEOUT_MS  default 330000, as long as HAMi-core waits (11 times 30 s)
//   ROLLCALL_SHIM_BROKER           the socket of the node's broker, for tiered
//   ROLLCALL_SHIM_BROKER_UID       who may own it, default 0
//   ROLLCALL_SHIM_DEADLINE_MS      default 500, for tiered, at cuInit
//   ROLLCALL_SHIM_CHALLENGE_DEADLINE_MS  default 10000, for tiered, at a context. Far more,
//                                  since the context itself takes ten seconds and longer
//                                  where 50 processes start together, and each call of the
//                                  driver then waits for theirs: 250 ms a round
//   ROLLCALL_SHIM_LOG              1: one line on standard error for what went wrong
Settings read_settings();

}  // namespace rollcall::shim
