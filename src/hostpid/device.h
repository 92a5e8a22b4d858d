// The device of a context, as the challenge needs it: CUDA for memory, NVML for the
// list, paired by UUID (the two libraries count devices differently). What can refuse
// before the first round refuses here, with its reason.
#pragma once

#include "gpu/abi.h"
#include "hostpid/tiers.h"

namespace rollcall::hostpid {

// How to find a function of the driver or of NVML; null if there is none.
struct Lookup {
  hostpid_lookup find = nullptr;  // null: dlsym in libcuda.so.1 and libnvidia-ml.so.1
  void* data = nullptr;
};

// One challenge on one device. Used by one thread, and not again.
class Device {
 public:
  Device(void* context, Lookup lookup) : context_(static_cast<gpu::CuContext>(context)), lookup_(lookup) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // prepare() makes the context current, and starts NVML; restore() undoes the first.
  // NVML stays started until the process ends: to shut it down takes 2 ms alone and a
  // third of a second among 50 processes (H200), all of it under the driver's lock.
  // Starting it is counted, so an application's own nvmlInit and nvmlShutdown work as
  // before, and the next challenge's start is nothing.
  ChallengeSite site();

 private:
  using CtxPushFn = gpu::CuResult (*)(gpu::CuContext);
  using CtxPopFn = gpu::CuResult (*)(gpu::CuContext*);
  using CtxGetDeviceFn = gpu::CuResult (*)(gpu::CuDevice*);
  using GetAttributeFn = gpu::CuResult (*)(int* value, int attribute, gpu::CuDevice);
  using MemGetInfoFn = gpu::CuResult (*)(size_t* free_bytes, size_t* total_bytes);
  using CaptureModeFn = gpu::CuResult (*)(int* mode);
  using HandleByUuidFn = gpu::NvmlReturn (*)(const char*, gpu::NvmlDevice*);
  using RunningProcessesFn = gpu::NvmlDeviceGetComputeRunningProcessesFn;

  struct Functions {
    CtxPushFn push = nullptr;
    CtxPopFn pop = nullptr;
    CtxGetDeviceFn get_device = nullptr;
    gpu::CuDeviceGetUuidFn get_uuid = nullptr;
    GetAttributeFn get_attribute = nullptr;
    gpu::CuMemAllocFn allocate = nullptr;
    gpu::CuMemFreeFn release = nullptr;
    MemGetInfoFn memory_info = nullptr;
    CaptureModeFn capture_mode = nullptr;  // may be missing
    gpu::NvmlInitFn nvml_init = nullptr;
    HandleByUuidFn handle_by_uuid = nullptr;
    gpu::NvmlDeviceGetMigModeFn mig_mode = nullptr;  // may be missing
    RunningProcessesFn processes_v1 = nullptr;       // one of the two
    RunningProcessesFn processes_v2 = nullptr;
    RunningProcessesFn mps_processes = nullptr;  // may be missing; its entries are those of v2
  };

  // In one mapping: a host's thread may have a small stack.
  struct Memory {
    ChallengeMemory challenge;
    gpu::NvmlProcessInfoV2 entries[kMaxListed];
  };

  Reason prepare(ChallengeDriver* driver, ChallengeMemory** memory);
  void restore();
  template <typename Function>
  bool find(Function* function, const char* name, const char* older_name = nullptr) const;
  bool find_cuda();
  bool find_nvml();
  Reason enter_context();
  Reason pair();
  Reason check_sharing(gpu::CuDevice device);
  ListResult list(ListedProcess* entries, size_t* count);
  void relax_capture();

  gpu::CuContext context_;
  Lookup lookup_;
  Functions functions_;
  gpu::NvmlDevice device_ = nullptr;
  Memory* memory_ = nullptr;
  bool entered_ = false;
  bool capture_relaxed_ = false;
  int capture_before_ = 0;
};

}  // namespace rollcall::hostpid
