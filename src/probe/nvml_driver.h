// NVML as rollcall-probe uses it. Only the process list is needed to answer
// anything at all; whatever else a library lacks or refuses is "not known".
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/abi.h"
#include "probe/facts.h"

namespace rollcall::probe {

// One answer of a process list.
struct ProcessList {
  std::vector<ListedProcess> processes;  // without names
  std::optional<int> stride_bytes;       // as measured; unset where nobody is listed or it is not plausible
};

class NvmlDriver {
 public:
  // dlopen("libnvidia-ml.so.1") and its functions.
  static base::Result<NvmlDriver> load();
  [[nodiscard]] base::Result<void> init() const;

  [[nodiscard]] std::string refusal(const char* call, gpu::NvmlReturn result) const;

  [[nodiscard]] std::string driver_version() const;  // empty if not told
  [[nodiscard]] base::Result<int> device_count() const;
  [[nodiscard]] base::Result<gpu::NvmlDevice> device(int index) const;
  [[nodiscard]] std::string uuid(gpu::NvmlDevice device) const;  // empty if not told
  [[nodiscard]] DeviceFacts describe(int index, gpu::NvmlDevice device) const;
  [[nodiscard]] std::string process_name(int64_t pid) const;  // empty if not told
  // The index of the device with that UUID; unset if there is none.
  [[nodiscard]] std::optional<int> index_of(const std::string& uuid) const;

  // Version 1, 2 or 3 of the list call. An error if it is missing or refused.
  [[nodiscard]] base::Result<ProcessList> list(int version, int index) const;
  // The first version that answers, of the one device, or of all where `index` is unset.
  [[nodiscard]] base::Result<std::vector<ListedProcess>> list(std::optional<int> index) const;
  // The list once nobody of `gone` is on it any more, or after a second with whoever still
  // is: a driver need not take a process off at once.
  [[nodiscard]] base::Result<std::vector<ListedProcess>> list_without(const std::set<int64_t>& gone,
                                                                      std::optional<int> index) const;
  // The stride of each version, over all devices.
  [[nodiscard]] std::optional<int> stride(int version) const;

 private:
  gpu::NvmlInitFn init_ = nullptr;
  gpu::NvmlErrorStringFn error_string_ = nullptr;
  gpu::NvmlSystemGetDriverVersionFn driver_version_ = nullptr;
  gpu::NvmlSystemGetProcessNameFn process_name_ = nullptr;
  gpu::NvmlDeviceGetCountFn device_count_ = nullptr;
  gpu::NvmlDeviceGetHandleByIndexFn device_by_index_ = nullptr;
  gpu::NvmlDeviceGetTextFn device_uuid_ = nullptr;
  gpu::NvmlDeviceGetTextFn device_name_ = nullptr;
  gpu::NvmlDeviceGetMemoryInfoFn memory_info_ = nullptr;
  gpu::NvmlDeviceGetModeFn persistence_mode_ = nullptr;
  gpu::NvmlDeviceGetModeFn compute_mode_ = nullptr;
  gpu::NvmlDeviceGetMigModeFn mig_mode_ = nullptr;
  gpu::NvmlDeviceGetComputeRunningProcessesFn processes_[3] = {};  // versions 1, 2, 3
};

}  // namespace rollcall::probe
