// Kept to four functions on purpose: whatever more of NVML is looked up here
// would be looked up inside every program under study.
#include "gpu/nvml.h"

#include <dlfcn.h>

#include "base/old_glibc.h"

ROLLCALL_OLD_SYMBOL(dlopen);

namespace rollcall::gpu {
namespace {

template <typename Function>
bool find(LookupFn lookup, void* handle, Function* function, const char* name, const char* older_name) {
  void* address = lookup(handle, name);
  if (address == nullptr && older_name != nullptr) address = lookup(handle, older_name);
  *function = reinterpret_cast<Function>(address);
  return address != nullptr;
}

}  // namespace

bool load_nvml(LookupFn lookup, Nvml* nvml) {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  return find(lookup, handle, &nvml->init, "nvmlInit_v2", "nvmlInit") &&
         find(lookup, handle, &nvml->shutdown, "nvmlShutdown", nullptr) &&
         find(lookup, handle, &nvml->device_by_index, "nvmlDeviceGetHandleByIndex_v2",
              "nvmlDeviceGetHandleByIndex") &&
         find(lookup, handle, &nvml->compute_processes_v1, "nvmlDeviceGetComputeRunningProcesses", nullptr);
}

NvmlReturn list_compute_pids(const Nvml& nvml, NvmlDevice device, NvmlProcessInfoV1* scratch, unsigned* pids,
                             unsigned* count) {
  unsigned capacity = kNvmlMaxProcesses;
  const NvmlReturn status = nvml.compute_processes_v1(device, &capacity, scratch);
  *count = 0;
  if (status != kNvmlSuccess) return status;
  if (capacity > kNvmlMaxProcesses) return kNvmlUnknown;  // more than fits was claimed: believe none of it
  for (unsigned i = 0; i < capacity; ++i) pids[i] = scratch[i].pid;
  *count = capacity;
  return kNvmlSuccess;
}

}  // namespace rollcall::gpu
