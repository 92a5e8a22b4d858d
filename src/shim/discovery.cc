// See discovery.h. All that is said goes into the slot, and to standard error where the
// environment asks for it.
#include "shim/discovery.h"

#include <stdio.h>
#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "shim/legacy.h"
#include "shim/process_state.h"
#include "shim/real.h"
#include "shim/settings.h"
#include "shim/tiered.h"

namespace rollcall::shim {
namespace {

// Set while this thread is inside a discovery, whose own calls into the driver must not
// start another one.
thread_local bool t_inside __attribute__((tls_model("initial-exec"))) = false;

class Inside {
 public:
  Inside() { t_inside = true; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { t_inside = false; }
};

void log_line(const Settings& settings, const char* what) {
  if (!settings.log) return;
  char line[256];
  const int length =
      snprintf(line, sizeof line, "[rollcall-shim pid=%d] %s\n", static_cast<int>(getpid()), what);
  if (length > 0 && write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) return;
}

void log_failure(const Settings& settings, const RegionSlot& slot) {
  if (slot.status.load(std::memory_order_relaxed) == static_cast<uint32_t>(SlotStatus::kFailed)) {
    log_line(settings, to_text(static_cast<Reason>(slot.reason)));
  }
}

ProbeDriver probe_driver() {
  ProbeDriver driver;
  driver.lookup = real_dlsym;
  driver.device_get = reinterpret_cast<gpu::CuDeviceGetFn>(real_driver_function("cuDeviceGet"));
  driver.retain =
      reinterpret_cast<gpu::CuDevicePrimaryCtxRetainFn>(real_driver_function("cuDevicePrimaryCtxRetain"));
  void* release = real_driver_function("cuDevicePrimaryCtxRelease_v2");
  if (release == nullptr) release = real_driver_function("cuDevicePrimaryCtxRelease");
  driver.release = reinterpret_cast<gpu::CuDevicePrimaryCtxReleaseFn>(release);
  return driver;
}

void discover(const Settings& settings, Region* region) {
  const bool tiered = settings.discovery == Discovery::kTiered;
  const int64_t wait_ns = tiered ? int64_t{settings.deadline_ms} * base::kNsPerMs : settings.lock_timeout_ns;
  const int64_t deadline_ns = base::monotonic_ns() + wait_ns;
  const Region::Join joined = region->join(settings.cache_path, deadline_ns);
  if (joined != Region::Join::kOk) {
    log_line(settings, to_text(joined));
    return;
  }
  if (tiered) {
    discover_tiered(settings, deadline_ns, region->slot());
  } else {
    discover_legacy(settings, probe_driver(), region);
  }
  log_failure(settings, *region->slot());
}

}  // namespace

RegionSlot* discover_at_init() {
  ProcessState* state = t_inside ? nullptr : process_state();
  const auto own_pid = static_cast<uint32_t>(getpid());
  if (state == nullptr || state->owner.load(std::memory_order_acquire) == own_pid) return nullptr;
  const Settings settings = read_settings();
  if (settings.discovery == Discovery::kOff) return nullptr;
  if (settings.cache_path == nullptr) {
    log_line(settings, "CUDA_DEVICE_MEMORY_SHARED_CACHE is not set: no discovery");
    return nullptr;
  }
  const Turn turn(state, own_pid);
  if (state->owner.load(std::memory_order_acquire) == own_pid) return nullptr;
  const Inside inside;
  // Made anew in a forked child, over what it inherited: the parent's mapping and
  // descriptor stay open there, harmless, since record locks are not inherited and the
  // slot is claimed by PID.
  auto* region = new (static_cast<void*>(state->region)) Region();
  discover(settings, region);
  RegionSlot* slot = region->slot();
  const bool wants_context =
      settings.discovery == Discovery::kTiered && slot != nullptr && wants_challenge(*slot);
  state->wants_context.store(wants_context ? 1 : 0, std::memory_order_relaxed);
  state->owner.store(own_pid, std::memory_order_release);
  return slot;
}

RegionSlot* discover_with_context(gpu::CuContext context) {
  ProcessState* state = t_inside ? nullptr : process_state();
  const auto own_pid = static_cast<uint32_t>(getpid());
  if (state == nullptr) return nullptr;
  // A program that came to its context past our cuInit.
  if (state->owner.load(std::memory_order_acquire) != own_pid) discover_at_init();
  if (state->owner.load(std::memory_order_acquire) != own_pid) return nullptr;
  if (state->wants_context.load(std::memory_order_relaxed) == 0) return nullptr;
  const Turn turn(state, own_pid);
  if (state->wants_context.load(std::memory_order_relaxed) == 0) return nullptr;
  const Inside inside;
  const Settings settings = read_settings();
  RegionSlot* slot = state->joined()->slot();
  challenge_tiered(settings, context, slot);
  state->wants_context.store(wants_challenge(*slot) ? 1 : 0, std::memory_order_relaxed);
  if (slot->nvml_pid == 0) log_line(settings, to_text(static_cast<Reason>(slot->nvml_reason)));
  return slot;
}

}  // namespace rollcall::shim
