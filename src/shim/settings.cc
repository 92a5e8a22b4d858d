// secure_getenv, so that a set-user-ID program is not told by its caller which
// files to open.
#include "shim/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

namespace rollcall::shim {
namespace {

constexpr int64_t kDefaultDeadlineMs = 500;
constexpr int64_t kDefaultChallengeDeadlineMs = 10'000;
constexpr int64_t kLongestDeadlineMs = 60'000;  // libhostpid's own
constexpr int64_t kDefaultLockTimeoutMs = 330'000;
constexpr int64_t kLongestLockTimeoutMs = 24LL * 3600 * 1000;

const char* value_of(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

int64_t number(const char* text, int64_t otherwise, int64_t least, int64_t most) {
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long long value = strtoll(text, &end, 10);
  return *end == '\0' && value >= least && value <= most ? value : otherwise;
}

Discovery discovery_of(const char* text) {
  if (text == nullptr) return Discovery::kOff;
  if (strcmp(text, "legacy") == 0) return Discovery::kLegacy;
  if (strcmp(text, "legacy-node-lock") == 0) return Discovery::kLegacyNodeLock;
  return strcmp(text, "tiered") == 0 ? Discovery::kTiered : Discovery::kOff;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.discovery = discovery_of(value_of("ROLLCALL_SHIM_DISCOVERY"));
  settings.cache_path = value_of("CUDA_DEVICE_MEMORY_SHARED_CACHE");
  settings.node_lock_path = value_of("ROLLCALL_SHIM_NODE_LOCK");
  settings.lock_timeout_ns =
      number(value_of("ROLLCALL_SHIM_LOCK_TIMEOUT_MS"), kDefaultLockTimeoutMs, 0, kLongestLockTimeoutMs) *
      base::kNsPerMs;
  settings.broker_path = value_of("ROLLCALL_SHIM_BROKER");
  settings.broker_uid = static_cast<uint32_t>(number(value_of("ROLLCALL_SHIM_BROKER_UID"), 0, 0, UINT32_MAX));
  settings.deadline_ms = static_cast<uint32_t>(
      number(value_of("ROLLCALL_SHIM_DEADLINE_MS"), kDefaultDeadlineMs, 1, kLongestDeadlineMs));
  settings.challenge_deadline_ms = static_cast<uint32_t>(number(
      value_of("ROLLCALL_SHIM_CHALLENGE_DEADLINE_MS"), kDefaultChallengeDeadlineMs, 1, kLongestDeadlineMs));
  const char* log = value_of("ROLLCALL_SHIM_LOG");
  settings.log = log != nullptr && strcmp(log, "1") == 0;
  return settings;
}

}  // namespace rollcall::shim
