// What is looked up here is looked up inside other people's programs, so it is only what
// the challenge needs. Whatever is changed is changed for the calling thread alone.
#include "hostpid/device.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

#include "base/old_glibc.h"

ROLLCALL_OLD_SYMBOL(dlopen);
ROLLCALL_OLD_SYMBOL(dlsym);

namespace rollcall::hostpid {
namespace {

// CU_STREAM_CAPTURE_MODE_RELAXED (public documentation of the CUDA driver): an allocation on this thread does
// not break a capture of another one's.
constexpr int kCaptureModeRelaxed = 2;
constexpr unsigned kMigEnabled = 1;
constexpr size_t kUuidTextBytes = 4 + 32 + 4 + 1;

void* find_in_library(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return handle != nullptr ? dlsym(handle, name) : nullptr;
}

void* find_by_default(void* /*data*/, const char* name) {
  const bool nvml = name[0] == 'n';
  return find_in_library(nvml ? "libnvidia-ml.so.1" : "libcuda.so.1", name);
}

// As NVML spells it: "GPU-" and the bytes in hexadecimal, 8-4-4-4-12.
void format_uuid(const gpu::CuUuid& uuid, char (&text)[kUuidTextBytes]) {
  constexpr char kDigits[] = "0123456789abcdef";
  memcpy(text, "GPU-", 4);
  char* at = text + 4;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    *at++ = kDigits[uuid.bytes[i] >> 4];
    *at++ = kDigits[uuid.bytes[i] & 15];
  }
  *at = '\0';
}

}  // namespace

template <typename Function>
bool Device::find(Function* function, const char* name, const char* older_name) const {
  const hostpid_lookup lookup = lookup_.find != nullptr ? lookup_.find : find_by_default;
  void* address = lookup(lookup_.data, name);
  if (address == nullptr && older_name != nullptr) address = lookup(lookup_.data, older_name);
  *function = reinterpret_cast<Function>(address);
  return address != nullptr;
}

bool Device::find_cuda() {
  Functions& f = functions_;
  find(&f.capture_mode, "cuThreadExchangeStreamCaptureMode");
  return find(&f.push, "cuCtxPushCurrent_v2") && find(&f.pop, "cuCtxPopCurrent_v2") &&
         find(&f.get_device, "cuCtxGetDevice") &&
         find(&f.get_uuid, "cuDeviceGetUuid_v2", "cuDeviceGetUuid") &&
         find(&f.get_attribute, "cuDeviceGetAttribute") && find(&f.allocate, "cuMemAlloc_v2") &&
         find(&f.release, "cuMemFree_v2") && find(&f.memory_info, "cuMemGetInfo_v2");
}

bool Device::find_nvml() {
  Functions& f = functions_;
  find(&f.mig_mode, "nvmlDeviceGetMigMode");
  find(&f.mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses_v3",
       "nvmlDeviceGetMPSComputeRunningProcesses_v2");
  // Version 1 has entries of 16 bytes on every driver, version 2 of 24; of the third there
  // are two layouts.
  find(&f.processes_v1, "nvmlDeviceGetComputeRunningProcesses");
  if (f.processes_v1 == nullptr) find(&f.processes_v2, "nvmlDeviceGetComputeRunningProcesses_v2");
  return (f.processes_v1 != nullptr || f.processes_v2 != nullptr) &&
         find(&f.nvml_init, "nvmlInit_v2", "nvmlInit") &&
         find(&f.handle_by_uuid, "nvmlDeviceGetHandleByUUID");
}

Reason Device::enter_context() {
  if (!find_cuda()) return Reason::kDriverIncomplete;
  if (functions_.push(context_) != gpu::kCudaSuccess) return Reason::kContextFailed;
  entered_ = true;
  return Reason::kNone;
}

// Under MPS the entry that answers would be the server's; on a partitioned device the
// list of the whole would be asked.
Reason Device::check_sharing(gpu::CuDevice device) {
  int mps = 0;
  bool mps_known = functions_.get_attribute(&mps, gpu::kCudaAttributeMpsEnabled, device) == gpu::kCudaSuccess;
  if (mps_known && mps != 0) return Reason::kMps;
  if (functions_.mps_processes != nullptr) {
    auto capacity = static_cast<unsigned>(kMaxListed);
    const gpu::NvmlReturn listed = functions_.mps_processes(device_, &capacity, memory_->entries);
    if ((listed == gpu::kNvmlSuccess && capacity > 0) || listed == gpu::kNvmlInsufficientSize)
      return Reason::kMps;
    mps_known = mps_known || listed == gpu::kNvmlSuccess;
  }
  // An old driver that has no word for it: whether its clients share is not known.
  if (!mps_known) return Reason::kDriverIncomplete;
  unsigned current = 0;
  unsigned pending = 0;
  if (functions_.mig_mode == nullptr) return Reason::kNone;
  const bool answered = functions_.mig_mode(device_, &current, &pending) == gpu::kNvmlSuccess;
  return answered && current == kMigEnabled ? Reason::kMig : Reason::kNone;
}

Reason Device::pair() {
  gpu::CuDevice device = 0;
  gpu::CuUuid uuid{};
  if (functions_.get_device(&device) != gpu::kCudaSuccess) return Reason::kContextFailed;
  if (functions_.get_uuid(&uuid, device) != gpu::kCudaSuccess) return Reason::kDeviceNotPaired;
  if (!find_nvml()) {
    // Missing altogether, or an old one.
    return functions_.nvml_init == nullptr && functions_.processes_v1 == nullptr &&
                   functions_.processes_v2 == nullptr
               ? Reason::kNvmlUnavailable
               : Reason::kDriverIncomplete;
  }
  if (functions_.nvml_init() != gpu::kNvmlSuccess) return Reason::kNvmlUnavailable;
  char text[kUuidTextBytes];
  format_uuid(uuid, text);
  if (functions_.handle_by_uuid(text, &device_) != gpu::kNvmlSuccess) return Reason::kDeviceNotPaired;
  return check_sharing(device);
}

void Device::relax_capture() {
  int mode = kCaptureModeRelaxed;
  if (functions_.capture_mode == nullptr || functions_.capture_mode(&mode) != gpu::kCudaSuccess) return;
  capture_before_ = mode;
  capture_relaxed_ = true;
}

static_assert(gpu::kNvmlMemoryNotAvailable == kMemoryUnknown, "passed on as it is");

ListResult Device::list(ListedProcess* entries, size_t* count) {
  auto capacity = static_cast<unsigned>(kMaxListed);
  *count = 0;
  const bool first_form = functions_.processes_v1 != nullptr;
  const gpu::NvmlReturn status =
      (first_form ? functions_.processes_v1 : functions_.processes_v2)(device_, &capacity, memory_->entries);
  if (status == gpu::kNvmlInsufficientSize) return ListResult::kTruncated;
  if (status != gpu::kNvmlSuccess || capacity > kMaxListed) return ListResult::kFailed;
  const auto* v1 = reinterpret_cast<const gpu::NvmlProcessInfoV1*>(memory_->entries);
  for (unsigned i = 0; i < capacity; ++i) {
    const unsigned pid = first_form ? v1[i].pid : memory_->entries[i].pid;
    const unsigned long long used = first_form ? v1[i].used_gpu_memory : memory_->entries[i].used_gpu_memory;
    entries[i] = {pid, used};
  }
  *count = capacity;
  return capacity == kMaxListed ? ListResult::kTruncated : ListResult::kOk;
}

Reason Device::prepare(ChallengeDriver* driver, ChallengeMemory** memory) {
  void* mapped = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return Reason::kNotEnoughMemory;
  memory_ = static_cast<Memory*>(mapped);
  Reason reason = enter_context();
  if (reason == Reason::kNone) reason = pair();
  if (reason != Reason::kNone) return reason;
  relax_capture();
  *memory = &memory_->challenge;
  driver->self = this;
  driver->list = [](void* self, ListedProcess* entries, size_t* count) {
    return static_cast<Device*>(self)->list(entries, count);
  };
  driver->allocate = [](void* self, uint64_t bytes, uint64_t* pointer) {
    gpu::CuDevicePtr allocated = 0;
    const gpu::CuResult result = static_cast<Device*>(self)->functions_.allocate(&allocated, bytes);
    *pointer = allocated;
    if (result == gpu::kCudaOutOfMemory) return AllocateResult::kNoMemory;
    return result == gpu::kCudaSuccess ? AllocateResult::kOk : AllocateResult::kFailed;
  };
  driver->release = [](void* self, uint64_t pointer) {
    return static_cast<Device*>(self)->functions_.release(pointer) == gpu::kCudaSuccess;
  };
  driver->free_bytes = [](void* self, uint64_t* bytes) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    const bool known =
        static_cast<Device*>(self)->functions_.memory_info(&free_bytes, &total_bytes) == gpu::kCudaSuccess;
    *bytes = free_bytes;
    return known;
  };
  return Reason::kNone;
}

void Device::restore() {
  if (capture_relaxed_) functions_.capture_mode(&capture_before_);
  gpu::CuContext popped = nullptr;
  if (entered_) functions_.pop(&popped);
  if (memory_ != nullptr) munmap(memory_, sizeof(Memory));
}

ChallengeSite Device::site() {
  return {this,
          [](void* self, ChallengeDriver* driver, ChallengeMemory** memory) {
            return static_cast<Device*>(self)->prepare(driver, memory);
          },
          [](void* self) { static_cast<Device*>(self)->restore(); }};
}

}  // namespace rollcall::hostpid
