// secure_getenv, so that a set-user-ID program is not told by its caller which
// files to open.
#include "shim/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

namespace rollcall::shim {
namespace {

constexpr int64_t kDefaultLockTimeoutMs = 330'000;
constexpr int64_t kLongestLockTimeoutMs = 24LL * 3600 * 1000;

const char* value_of(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

int64_t milliseconds(const char* text, int64_t otherwise) {
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long long value = strtoll(text, &end, 10);
  return *end == '\0' && value >= 0 && value <= kLongestLockTimeoutMs ? value : otherwise;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  const char* discovery = value_of("ROLLCALL_SHIM_DISCOVERY");
  if (discovery != nullptr && strcmp(discovery, "legacy") == 0) settings.discovery = Discovery::kLegacy;
  if (discovery != nullptr && strcmp(discovery, "legacy-node-lock") == 0) {
    settings.discovery = Discovery::kLegacyNodeLock;
  }
  settings.cache_path = value_of("CUDA_DEVICE_MEMORY_SHARED_CACHE");
  settings.node_lock_path = value_of("ROLLCALL_SHIM_NODE_LOCK");
  settings.lock_timeout_ns =
      milliseconds(value_of("ROLLCALL_SHIM_LOCK_TIMEOUT_MS"), kDefaultLockTimeoutMs) * base::kNsPerMs;
  const char* log = value_of("ROLLCALL_SHIM_LOG");
  settings.log = log != nullptr && strcmp(log, "1") == 0;
  return settings;
}

}  // namespace rollcall::shim
