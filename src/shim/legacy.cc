// The order of the steps is the algorithm: the slot is written before the probe
// context goes, and the context goes before the lock does.
#include "shim/legacy.h"

#include <sys/mman.h>

#include "base/clock.h"
#include "shim/lock.h"
#include "shim/snapshot_diff.h"

namespace rollcall::shim {
namespace {

// Two lists and the scratch space of a call. Mapped rather than on the stack:
// the host may have called cuInit on a thread with a small one.
struct Lists {
  unsigned before[gpu::kNvmlMaxProcesses];
  unsigned after[gpu::kNvmlMaxProcesses];
  gpu::NvmlProcessInfoV1 scratch[gpu::kNvmlMaxProcesses];
};

Reason probe_context(const ProbeDriver& driver, const gpu::Nvml& nvml, gpu::NvmlDevice device, Lists* lists,
                     RegionSlot* slot) {
  if (driver.device_get == nullptr || driver.retain == nullptr || driver.release == nullptr) {
    return Reason::kDriverIncomplete;
  }
  unsigned before = 0;
  if (gpu::list_compute_pids(nvml, device, lists->scratch, lists->before, &before) != gpu::kNvmlSuccess) {
    return Reason::kListFailed;
  }
  gpu::CuDevice cuda_device = 0;
  gpu::CuContext context = nullptr;
  gpu::CuResult made = driver.device_get(&cuda_device, 0);
  if (made == gpu::kCudaSuccess) made = driver.retain(&context, cuda_device);
  if (made == gpu::kCudaOutOfMemory) return Reason::kOutOfMemory;
  if (made != gpu::kCudaSuccess) return Reason::kContextFailed;
  unsigned after = 0;
  Reason reason = Reason::kListFailed;
  if (gpu::list_compute_pids(nvml, device, lists->scratch, lists->after, &after) == gpu::kNvmlSuccess) {
    const SnapshotDiff diff = snapshot_diff(lists->before, before, lists->after, after);
    reason = diff.reason;
    slot->listed_before = before;
    slot->listed_after = after;
    slot->assigned_pid = reason == Reason::kNone ? static_cast<int32_t>(diff.pid) : 0;
  }
  driver.release(cuda_device);
  return reason;
}

Reason probe_under_lock(const Settings& settings, const ProbeDriver& driver, const gpu::Nvml& nvml,
                        Lists* lists, Region* region) {
  gpu::NvmlDevice device = nullptr;
  if (nvml.device_by_index(0, &device) != gpu::kNvmlSuccess) return Reason::kListFailed;

  NodeLockFile node;
  int fd = region->fd();
  std::atomic<uint32_t>* wake = region->lock_wake();
  if (settings.discovery == Discovery::kLegacyNodeLock) {
    if (settings.node_lock_path == nullptr || !node.open(settings.node_lock_path)) return Reason::kLockFailed;
    fd = node.fd();
    wake = node.wake();
  }
  FileLock lock(fd, FileLock::kDiscoveryByte, wake);
  const int64_t start_ns = base::monotonic_ns();
  const FileLock::Result result = lock.acquire(start_ns + settings.lock_timeout_ns);
  region->slot()->lock_wait_ns = base::monotonic_ns() - start_ns;
  if (result == FileLock::Result::kTimeout) return Reason::kLockTimeout;
  if (result == FileLock::Result::kFailed) return Reason::kLockFailed;
  return probe_context(driver, nvml, device, lists, region->slot());
}

Reason discover(const Settings& settings, const ProbeDriver& driver, Region* region) {
  void* memory = mmap(nullptr, sizeof(Lists), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Reason::kNoMemory;
  gpu::Nvml nvml;
  Reason reason = Reason::kNvmlUnavailable;
  if (gpu::load_nvml(driver.lookup, &nvml) && nvml.init() == gpu::kNvmlSuccess) {
    reason = probe_under_lock(settings, driver, nvml, static_cast<Lists*>(memory), region);
    nvml.shutdown();
  }
  munmap(memory, sizeof(Lists));
  return reason;
}

}  // namespace

void discover_legacy(const Settings& settings, const ProbeDriver& driver, Region* region) {
  RegionSlot* slot = region->slot();
  const int64_t start_ns = base::monotonic_ns();
  slot->status.store(static_cast<uint32_t>(SlotStatus::kDiscovering), std::memory_order_release);
  const Reason reason = discover(settings, driver, region);
  slot->discovery_ns = base::monotonic_ns() - start_ns;
  slot->reason = static_cast<uint32_t>(reason);
  slot->tier = static_cast<uint32_t>(reason == Reason::kNone ? Tier::kSnapshotDiff : Tier::kNone);
  const SlotStatus status = reason == Reason::kNone ? SlotStatus::kAssigned : SlotStatus::kFailed;
  slot->status.store(static_cast<uint32_t>(status), std::memory_order_release);
}

}  // namespace rollcall::shim
