// Stand-in libnvidia-ml, third part: memory and the processes on a device. The
// list comes from the node already as the caller's view has it; here it only
// takes the shape that the caller's version of the call wants.
#include <string.h>
#include <time.h>

#include "simgpu/nvml_state.h"

using namespace rollcall;
using namespace rollcall::simgpu;
using namespace rollcall::simgpu::nvml;

namespace {

constexpr unsigned kNoInstance = 0xffffffff;  // the device is not partitioned

// With the lock held: fetches the list of a device into the client.
gpu::NvmlReturn fetch(gpu::NvmlDevice device) {
  Request request;
  if (!gpu_of(device, &request.gpu)) return gpu::kNvmlInvalidArgument;
  Reply reply;
  return node_call(Operation::kListProcesses, request, &reply);
}

// Writes entries of type Entry, as the real call does: with too little room
// nothing but the count that is needed. `fill` gets each row.
template <typename Entry, typename Fill>
gpu::NvmlReturn list(gpu::NvmlDevice device, unsigned* count, Entry* entries, Fill fill) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (count == nullptr || (*count > 0 && entries == nullptr)) return gpu::kNvmlInvalidArgument;
  const Lock lock;
  const gpu::NvmlReturn result = fetch(device);
  if (result != gpu::kNvmlSuccess) return result;
  const unsigned needed = g_state.client.entry_count();
  const unsigned capacity = *count;
  *count = needed;
  if (needed > capacity) return gpu::kNvmlInsufficientSize;
  for (unsigned i = 0; i < needed; ++i) fill(g_state.client.entries()[i], &entries[i]);
  return gpu::kNvmlSuccess;
}

// `fill` gets the device's bytes in all, and those free.
template <typename Fill>
gpu::NvmlReturn memory_of(gpu::NvmlDevice device, Fill fill) {
  const Lock lock;
  Request request;
  if (!gpu_of(device, &request.gpu)) return gpu::kNvmlInvalidArgument;
  Reply reply;
  const gpu::NvmlReturn result = node_call(Operation::kMemoryInfo, request, &reply);
  if (result == gpu::kNvmlSuccess) fill(reply.value2, reply.value);
  return result;
}

}  // namespace

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetComputeRunningProcesses(gpu::NvmlDevice device, unsigned* count,
                                                                  gpu::NvmlProcessInfoV1* entries) {
  return list(device, count, entries, [](const ListEntry& row, gpu::NvmlProcessInfoV1* entry) {
    entry->pid = row.pid;
    entry->used_gpu_memory = row.used_bytes;
  });
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetComputeRunningProcesses_v3(gpu::NvmlDevice device, unsigned* count,
                                                                     gpu::NvmlProcessInfoV2* entries) {
  return list(device, count, entries, [](const ListEntry& row, gpu::NvmlProcessInfoV2* entry) {
    entry->pid = row.pid;
    entry->used_gpu_memory = row.used_bytes;
    entry->gpu_instance_id = kNoInstance;
    entry->compute_instance_id = kNoInstance;
  });
}
ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetComputeRunningProcesses_v2(gpu::NvmlDevice, unsigned*,
                                                                     gpu::NvmlProcessInfoV2*)
    __attribute__((alias("nvmlDeviceGetComputeRunningProcesses_v3")));

// One sample per listed process, taken now, and always of an idle one: this
// node runs no kernels. A null buffer asks for the count.
ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetProcessUtilization(gpu::NvmlDevice device,
                                                             gpu::NvmlProcessUtilization* samples,
                                                             unsigned* count, uint64_t last_seen_us) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t now_us =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
  if (count != nullptr && samples == nullptr) *count = 0;
  const gpu::NvmlReturn result =
      list(device, count, samples, [now_us](const ListEntry& row, gpu::NvmlProcessUtilization* sample) {
        memset(sample, 0, sizeof *sample);
        sample->pid = row.pid;
        sample->time_stamp = now_us;
      });
  if (result != gpu::kNvmlSuccess) return result;
  if (last_seen_us >= now_us) *count = 0;
  return *count == 0 ? gpu::kNvmlNotFound : gpu::kNvmlSuccess;
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetMemoryInfo(gpu::NvmlDevice device, gpu::NvmlMemory* memory) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (memory == nullptr) return gpu::kNvmlInvalidArgument;
  return memory_of(device, [memory](unsigned long long total, unsigned long long free) {
    *memory = {total, free, total - free};
  });
}

// `used` of this form leaves out what the driver keeps for itself: nothing here.
ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetMemoryInfo_v2(gpu::NvmlDevice device, gpu::NvmlMemoryV2* memory) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (memory == nullptr) return gpu::kNvmlInvalidArgument;
  if (memory->version != gpu::kNvmlMemoryV2Version) return gpu::kNvmlArgumentVersionMismatch;
  return memory_of(device, [memory](unsigned long long total, unsigned long long free) {
    *memory = {gpu::kNvmlMemoryV2Version, total, 0, free, total - free};
  });
}
