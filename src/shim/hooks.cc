// cuInit, where discovery takes place, and cuGetProcAddress in both forms, so
// that a program that asks the driver itself for cuInit gets the hook, too. The
// driver's own results go through untouched, whatever discovery did.
#include "shim/hooks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "base/clock.h"
#include "base/futex.h"
#include "gpu/abi.h"
#include "shim/added_time.h"
#include "shim/legacy.h"
#include "shim/real.h"
#include "shim/region.h"
#include "shim/settings.h"

#define ROLLCALL_EXPORT extern "C" __attribute__((visibility("default")))

using rollcall::gpu::CuResult;

ROLLCALL_EXPORT CuResult cuInit(unsigned flags);
ROLLCALL_EXPORT CuResult cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                          uint64_t flags);
ROLLCALL_EXPORT CuResult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                             uint64_t flags, int* query_result);

namespace rollcall::shim {
namespace {

// From this version on, cuGetProcAddress("cuGetProcAddress") gives the second
// form (CUDA 12.0, which introduced it).
constexpr int kSecondFormVersion = 12000;

// One real function, found on first use.
template <const char* kName>
struct Real {
  static inline std::atomic<void*> function{nullptr};

  static void* get() {
    void* known = function.load(std::memory_order_acquire);
    if (known == nullptr) {
      known = real_driver_function(kName);
      function.store(known, std::memory_order_release);
    }
    return known;
  }
  static bool remember(void* found) {
    void* none = nullptr;
    return function.compare_exchange_strong(none, found, std::memory_order_acq_rel) || none == found;
  }
};

constexpr char kCuInit[] = "cuInit";
constexpr char kCuGetProcAddress[] = "cuGetProcAddress";
constexpr char kCuGetProcAddressV2[] = "cuGetProcAddress_v2";

void* cu_init_hook() {
  return reinterpret_cast<void*>(&::cuInit);
}
void* cu_get_proc_address_hook() {
  return reinterpret_cast<void*>(&::cuGetProcAddress);
}
void* cu_get_proc_address_v2_hook() {
  return reinterpret_cast<void*>(&::cuGetProcAddress_v2);
}

constexpr Hook kHooks[] = {
    {kCuInit, &cu_init_hook, &Real<kCuInit>::remember},
    {kCuGetProcAddress, &cu_get_proc_address_hook, &Real<kCuGetProcAddress>::remember},
    {kCuGetProcAddressV2, &cu_get_proc_address_v2_hook, &Real<kCuGetProcAddressV2>::remember},
};

void log_line(const Settings& settings, const char* what) {
  if (!settings.log) return;
  char line[256];
  const int length =
      snprintf(line, sizeof line, "[rollcall-shim pid=%d] %s\n", static_cast<int>(getpid()), what);
  if (length > 0 && write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) return;
}

// What this process knows of itself. After a fork the child is another process
// and starts anew; that is told by comparing PIDs, not by a handler at fork,
// which clone() without the C library would skip, and so that a lock held by
// another thread of the parent cannot lock the child for ever.
struct ProcessState {
  std::atomic<uint32_t> owner{0};  // PID of the process whose discovery is over
  std::atomic<uint32_t> busy{0};   // futex: PID of the process one of whose threads is at it
  alignas(Region) unsigned char region[sizeof(Region)] = {};
};
constinit ProcessState g_state;

// Set while this thread is inside the discovery, whose own calls into the
// driver must not start another one.
thread_local bool t_inside __attribute__((tls_model("initial-exec"))) = false;

void discover(const Settings& settings, Region* region) {
  const int64_t deadline_ns = base::monotonic_ns() + settings.lock_timeout_ns;
  const Region::Join joined = region->join(settings.cache_path, deadline_ns);
  if (joined != Region::Join::kOk) {
    log_line(settings, to_text(joined));
    return;
  }
  ProbeDriver driver;
  driver.lookup = real_dlsym;
  driver.device_get = reinterpret_cast<gpu::CuDeviceGetFn>(real_driver_function("cuDeviceGet"));
  driver.retain =
      reinterpret_cast<gpu::CuDevicePrimaryCtxRetainFn>(real_driver_function("cuDevicePrimaryCtxRetain"));
  void* release = real_driver_function("cuDevicePrimaryCtxRelease_v2");
  if (release == nullptr) release = real_driver_function("cuDevicePrimaryCtxRelease");
  driver.release = reinterpret_cast<gpu::CuDevicePrimaryCtxReleaseFn>(release);
  discover_legacy(settings, driver, region);
  if (region->slot()->status.load(std::memory_order_relaxed) == static_cast<uint32_t>(SlotStatus::kFailed)) {
    log_line(settings, to_text(static_cast<Reason>(region->slot()->reason)));
  }
}

// One thread of this process at a time. A value left by another process (the
// parent, before the fork) counts as free.
void enter(uint32_t own_pid) {
  for (;;) {
    uint32_t holder = g_state.busy.load(std::memory_order_acquire);
    if (holder == own_pid) {
      base::futex_wait(&g_state.busy, own_pid, base::kNsPerSecond);
    } else if (g_state.busy.compare_exchange_strong(holder, own_pid, std::memory_order_acq_rel)) {
      return;
    }
  }
}

void leave() {
  g_state.busy.store(0, std::memory_order_release);
  base::futex_wake(&g_state.busy);
}

// Once for each process; a second thread that calls cuInit meanwhile waits, as
// it would for the driver's own first initialisation. Returns the slot of this
// process if this call made the discovery, else null.
RegionSlot* discover_once() {
  const auto own_pid = static_cast<uint32_t>(getpid());
  if (g_state.owner.load(std::memory_order_acquire) == own_pid || t_inside) return nullptr;
  const Settings settings = read_settings();
  if (settings.discovery == Discovery::kOff) return nullptr;
  if (settings.cache_path == nullptr) {
    log_line(settings, "CUDA_DEVICE_MEMORY_SHARED_CACHE is not set: no discovery");
    return nullptr;
  }
  RegionSlot* slot = nullptr;
  enter(own_pid);
  if (g_state.owner.load(std::memory_order_acquire) != own_pid) {
    t_inside = true;
    // Made anew in a forked child, over what it inherited: the parent's mapping
    // and descriptor stay open there, harmless, since record locks are not
    // inherited and the slot is claimed by PID.
    auto* region = new (static_cast<void*>(g_state.region)) Region();
    discover(settings, region);
    slot = region->slot();
    t_inside = false;
    g_state.owner.store(own_pid, std::memory_order_release);
  }
  leave();
  return slot;
}

}  // namespace

const Hook* find_hook(const char* name) {
  for (const Hook& hook : kHooks) {
    if (strcmp(hook.name, name) == 0) return &hook;
  }
  return nullptr;
}

void* substitute(const char* name, void* function) {
  const Hook* hook = find_hook(name);
  if (hook == nullptr || function == nullptr) return function;
  void* replacement = hook->replacement();
  return function == replacement || hook->remember(function) ? replacement : function;
}

}  // namespace rollcall::shim

using namespace rollcall;
using namespace rollcall::shim;

ROLLCALL_EXPORT CuResult cuInit(unsigned flags) {
  const int64_t start_ns = base::monotonic_ns();
  const auto real = reinterpret_cast<gpu::CuInitFn>(Real<kCuInit>::get());
  if (real == nullptr) return gpu::kCudaNotFound;
  const int64_t real_start_ns = base::monotonic_ns();
  const CuResult result = real(flags);
  const int64_t real_end_ns = base::monotonic_ns();
  if (result != gpu::kCudaSuccess) return result;
  RegionSlot* slot = discover_once();
  add_time(base::monotonic_ns() - start_ns - (real_end_ns - real_start_ns));
  if (slot != nullptr) slot->added_ns = added_time_ns();
  return result;
}

ROLLCALL_EXPORT CuResult cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                          uint64_t flags) {
  const auto real = reinterpret_cast<gpu::CuGetProcAddressFn>(Real<kCuGetProcAddress>::get());
  if (real == nullptr) return gpu::kCudaNotFound;
  const CuResult result = real(symbol, function, cuda_version, flags);
  if (result != gpu::kCudaSuccess || symbol == nullptr || function == nullptr) return result;
  const bool second_form = strcmp(symbol, kCuGetProcAddress) == 0 && cuda_version >= kSecondFormVersion;
  *function = substitute(second_form ? kCuGetProcAddressV2 : symbol, *function);
  return result;
}

ROLLCALL_EXPORT CuResult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                             uint64_t flags, int* query_result) {
  const auto real = reinterpret_cast<gpu::CuGetProcAddressV2Fn>(Real<kCuGetProcAddressV2>::get());
  if (real == nullptr) return gpu::kCudaNotFound;
  const CuResult result = real(symbol, function, cuda_version, flags, query_result);
  if (result != gpu::kCudaSuccess || symbol == nullptr || function == nullptr) return result;
  const bool second_form = strcmp(symbol, kCuGetProcAddress) == 0 && cuda_version >= kSecondFormVersion;
  *function = substitute(second_form ? kCuGetProcAddressV2 : symbol, *function);
  return result;
}
