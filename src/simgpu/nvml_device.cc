// Stand-in libnvidia-ml, second part: which devices there are and how they are
// set up. All of it is known from the greeting, so that nothing here asks the node.
#include <strings.h>

#include "simgpu/nvml_state.h"
#include "simgpu/uuid.h"

using namespace rollcall;  // the API below is C: it has no namespace of its own
using namespace rollcall::simgpu;
using namespace rollcall::simgpu::nvml;

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetCount_v2(unsigned* count) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (count == nullptr) return gpu::kNvmlInvalidArgument;
  *count = g_state.client.node().gpus;
  return gpu::kNvmlSuccess;
}
ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetCount(unsigned*) __attribute__((alias("nvmlDeviceGetCount_v2")));

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetHandleByIndex_v2(unsigned index, gpu::NvmlDevice* device) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (device == nullptr || index >= g_state.client.node().gpus) return gpu::kNvmlInvalidArgument;
  *device = handle_of(index);
  return gpu::kNvmlSuccess;
}
ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetHandleByIndex(unsigned, gpu::NvmlDevice*)
    __attribute__((alias("nvmlDeviceGetHandleByIndex_v2")));

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetHandleByUUID(const char* uuid, gpu::NvmlDevice* device) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (uuid == nullptr || device == nullptr) return gpu::kNvmlInvalidArgument;
  for (unsigned gpu = 0; gpu < g_state.client.node().gpus; ++gpu) {
    char text[kUuidTextSize];
    format_uuid(gpu_uuid(gpu), text);
    if (strcasecmp(text, uuid) == 0) {
      *device = handle_of(gpu);
      return gpu::kNvmlSuccess;
    }
  }
  return gpu::kNvmlNotFound;
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetUUID(gpu::NvmlDevice device, char* uuid, unsigned length) {
  if (!usable()) return gpu::kNvmlUninitialized;
  unsigned gpu = 0;
  if (uuid == nullptr || !gpu_of(device, &gpu)) return gpu::kNvmlInvalidArgument;
  char text[kUuidTextSize];
  format_uuid(gpu_uuid(gpu), text);
  return copy_text(text, uuid, length);
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetIndex(gpu::NvmlDevice device, unsigned* index) {
  if (!usable()) return gpu::kNvmlUninitialized;
  unsigned gpu = 0;
  if (index == nullptr || !gpu_of(device, &gpu)) return gpu::kNvmlInvalidArgument;
  *index = gpu;
  return gpu::kNvmlSuccess;
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetName(gpu::NvmlDevice device, char* name, unsigned length) {
  if (!usable()) return gpu::kNvmlUninitialized;
  unsigned gpu = 0;
  if (name == nullptr || !gpu_of(device, &gpu)) return gpu::kNvmlInvalidArgument;
  return copy_text(g_state.client.node().device_name, name, length);
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetPersistenceMode(gpu::NvmlDevice device, int* mode) {
  if (!usable()) return gpu::kNvmlUninitialized;
  unsigned gpu = 0;
  if (mode == nullptr || !gpu_of(device, &gpu)) return gpu::kNvmlInvalidArgument;
  const bool enabled = (g_state.client.node().features & kFeaturePersistence) != 0;
  *mode = enabled ? gpu::kNvmlFeatureEnabled : gpu::kNvmlFeatureDisabled;
  return gpu::kNvmlSuccess;
}

ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetComputeMode(gpu::NvmlDevice device, int* mode) {
  if (!usable()) return gpu::kNvmlUninitialized;
  unsigned gpu = 0;
  if (mode == nullptr || !gpu_of(device, &gpu)) return gpu::kNvmlInvalidArgument;
  *mode = gpu::kNvmlComputeModeDefault;
  return gpu::kNvmlSuccess;
}

// A device that can be partitioned and is not, now and after the next restart.
ROLLCALL_API gpu::NvmlReturn nvmlDeviceGetMigMode(gpu::NvmlDevice device, unsigned* current,
                                                  unsigned* pending) {
  if (!usable()) return gpu::kNvmlUninitialized;
  unsigned gpu = 0;
  if (current == nullptr || pending == nullptr || !gpu_of(device, &gpu)) return gpu::kNvmlInvalidArgument;
  *current = gpu::kNvmlMigDisabled;
  *pending = gpu::kNvmlMigDisabled;
  return gpu::kNvmlSuccess;
}
