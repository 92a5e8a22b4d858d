// libcuda as rollcall-probe uses it: loaded by name, each function typed. A driver
// that lacks one is a driver that cannot be asked; the error names it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/abi.h"

namespace rollcall::probe {

struct CudaDriver {
  gpu::CuInitFn init = nullptr;
  gpu::CuDriverGetVersionFn driver_get_version = nullptr;
  gpu::CuDeviceGetCountFn device_get_count = nullptr;
  gpu::CuDeviceGetFn device_get = nullptr;
  gpu::CuDeviceGetUuidFn device_get_uuid = nullptr;
  gpu::CuDevicePrimaryCtxRetainFn primary_retain = nullptr;
  gpu::CuDevicePrimaryCtxReleaseFn primary_release = nullptr;
  gpu::CuCtxCreateFn ctx_create = nullptr;
  gpu::CuCtxDestroyFn ctx_destroy = nullptr;
  gpu::CuCtxSetCurrentFn ctx_set_current = nullptr;
  gpu::CuMemAllocFn mem_alloc = nullptr;
  gpu::CuMemFreeFn mem_free = nullptr;
  gpu::CuGetErrorNameFn get_error_name = nullptr;  // the one that may be missing

  // dlopen("libcuda.so.1") and every function. The library stays loaded: drivers do
  // not survive dlclose.
  static base::Result<CudaDriver> load();

  // "cuInit returned 100 (CUDA_ERROR_NO_DEVICE)".
  [[nodiscard]] std::string refusal(const char* call, gpu::CuResult result) const;
  // The same as an error, or nothing for success.
  [[nodiscard]] base::Result<void> check(const char* call, gpu::CuResult result) const;

  // cuInit, then the device of that ordinal.
  [[nodiscard]] base::Result<gpu::CuDevice> open_device(int ordinal) const;
  // "GPU-…", as NVML spells it.
  [[nodiscard]] base::Result<std::string> uuid_of(gpu::CuDevice device) const;
  // The file that the functions come from, from /proc/self/maps; empty if not found.
  [[nodiscard]] std::string library_file() const;
};

std::string uuid_text(const gpu::CuUuid& uuid);

// The file that maps `address`, from the text of a maps file; empty if none does.
std::string file_that_maps(const std::string& maps, uintptr_t address);

}  // namespace rollcall::probe
