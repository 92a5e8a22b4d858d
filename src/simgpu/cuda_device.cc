// Stand-in libcuda, first part: initialisation and devices.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/cuda_state.h"
#include "simgpu/obey.h"
#include "simgpu/uuid.h"

using namespace rollcall;  // the API below is C: it has no namespace of its own
using namespace rollcall::simgpu;
using namespace rollcall::simgpu::cuda;

namespace {

gpu::CuResult initialise() {
  switch (g_state.client.open()) {
    case Link::kOpen:
      break;
    case Link::kClosed:
    case Link::kNoNode:
      return gpu::kCudaNoDevice;
    case Link::kRefused:
    case Link::kLost:
      return gpu::kCudaSystemNotReady;
  }
  const VisibleDevices devices =
      parse_visible_devices(getenv("CUDA_VISIBLE_DEVICES"), g_state.client.node().gpus);
  if (devices.count == 0) return gpu::kCudaNoDevice;
  Request request;
  request.object = static_cast<uint64_t>(gettid());
  Reply reply;
  const gpu::CuResult result = node_call(Operation::kCuInit, request, &reply);
  if (result != gpu::kCudaSuccess) return result;
  obey(reply.order);
  g_state.devices = devices;
  return gpu::kCudaSuccess;
}

}  // namespace

ROLLCALL_API gpu::CuResult cuInit(unsigned flags) {
  if (g_guard.inherited() && g_state.started.load(std::memory_order_acquire)) {
    return gpu::kCudaNotInitialized;
  }
  if (flags != 0) return gpu::kCudaInvalidValue;
  if (!claim_state()) return gpu::kCudaOutOfMemory;
  const Lock lock;
  if (g_state.initialised.load(std::memory_order_acquire)) return gpu::kCudaSuccess;
  g_state.started.store(true, std::memory_order_release);
  const gpu::CuResult result = initialise();
  if (result == gpu::kCudaSuccess) {
    g_state.initialised.store(true, std::memory_order_release);
  } else {
    g_state.started.store(false, std::memory_order_release);
  }
  return result;
}

// Works before cuInit, as the real one does; the version is the node's.
ROLLCALL_API gpu::CuResult cuDriverGetVersion(int* version) {
  if (version == nullptr) return gpu::kCudaInvalidValue;
  if (!g_guard.inherited() || !g_state.started.load(std::memory_order_acquire)) {
    if (!claim_state()) return gpu::kCudaOutOfMemory;
    const Lock lock;
    if (g_state.client.open() == Link::kNoNode) return gpu::kCudaNoDevice;
  }
  *version = g_state.client.node().cuda_version;
  return *version != 0 ? gpu::kCudaSuccess : gpu::kCudaSystemNotReady;
}

ROLLCALL_API gpu::CuResult cuDeviceGetCount(int* count) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (count == nullptr) return gpu::kCudaInvalidValue;
  *count = static_cast<int>(g_state.devices.count);
  return gpu::kCudaSuccess;
}

ROLLCALL_API gpu::CuResult cuDeviceGet(gpu::CuDevice* device, int ordinal) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (device == nullptr) return gpu::kCudaInvalidValue;
  if (!known_device(ordinal)) return gpu::kCudaInvalidDevice;
  *device = ordinal;
  return gpu::kCudaSuccess;
}

ROLLCALL_API gpu::CuResult cuDeviceGetUuid_v2(gpu::CuUuid* uuid, gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (uuid == nullptr) return gpu::kCudaInvalidValue;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  *uuid = gpu_uuid(g_state.devices.gpu[device]);
  return gpu::kCudaSuccess;
}
ROLLCALL_API gpu::CuResult cuDeviceGetUuid(gpu::CuUuid*, gpu::CuDevice)
    __attribute__((alias("cuDeviceGetUuid_v2")));

ROLLCALL_API gpu::CuResult cuDeviceGetName(char* name, int length, gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (name == nullptr || length <= 0) return gpu::kCudaInvalidValue;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  const char* full = g_state.client.node().device_name;
  const size_t copied = strnlen(full, static_cast<size_t>(length) - 1);
  memcpy(name, full, copied);
  name[copied] = '\0';
  return gpu::kCudaSuccess;
}

ROLLCALL_API gpu::CuResult cuDeviceTotalMem_v2(size_t* bytes, gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (bytes == nullptr) return gpu::kCudaInvalidValue;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  *bytes = g_state.client.node().memory_bytes;
  return gpu::kCudaSuccess;
}
ROLLCALL_API gpu::CuResult cuDeviceTotalMem(size_t*, gpu::CuDevice)
    __attribute__((alias("cuDeviceTotalMem_v2")));

ROLLCALL_API gpu::CuResult cuDeviceGetAttribute(int* value, int attribute, gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (value == nullptr) return gpu::kCudaInvalidValue;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  switch (attribute) {
    case gpu::kCudaAttributeMultiprocessorCount:
      *value = g_state.client.node().multiprocessors;
      return gpu::kCudaSuccess;
    case gpu::kCudaAttributeMaxThreadsPerMultiprocessor:
      *value = g_state.client.node().threads_per_multiprocessor;
      return gpu::kCudaSuccess;
    case gpu::kCudaAttributeMpsEnabled:
      *value = 0;
      return gpu::kCudaSuccess;
    default:
      return gpu::kCudaInvalidValue;
  }
}
