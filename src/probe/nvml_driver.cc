// See nvml_driver.h. Lists are read through version 1 first, whose 16-byte entries
// never changed; the others only where it is missing, and only with the stride that
// was measured.
#include "probe/nvml_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <strings.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "evidence/json_object.h"
#include "probe/stride.h"

namespace rollcall::probe {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr int kVersions = 3;
constexpr int kMaxDevices = 256;
constexpr unsigned kFirstCapacity = gpu::kNvmlMaxProcesses;
constexpr unsigned kMaxCapacity = 1 << 16;
// The count that a refused call names may be stale by the next one.
constexpr int kMaxAttempts = 4;
// Between two looks at a list from which somebody is to go.
constexpr int kLingerMs = 20;

template <typename Function>
bool find(void* handle, Function* function, const char* name) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

std::vector<ListedProcess> read_entries(const std::vector<unsigned char>& buffer, unsigned count,
                                        size_t stride, int index) {
  std::vector<ListedProcess> processes;
  for (unsigned i = 0; i < count; ++i) {
    gpu::NvmlProcessInfoV1 entry{};  // what all versions begin with
    std::memcpy(&entry, buffer.data() + i * stride, sizeof entry);
    ListedProcess process;
    process.device = index;
    process.pid = entry.pid;
    if (entry.used_gpu_memory != gpu::kNvmlValueNotAvailable) process.memory_bytes = entry.used_gpu_memory;
    processes.push_back(std::move(process));
  }
  return processes;
}

}  // namespace

base::Result<NvmlDriver> NvmlDriver::load() {
  void* handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return base::failure(
        kLibrary, fmt::format("cannot be loaded: {}", reason != nullptr ? reason : "unknown"),
        "is the NVIDIA driver installed, and its 'utility' capability given to this container?");
  }
  NvmlDriver driver;
  if (!find(handle, &driver.init_, "nvmlInit_v2") && !find(handle, &driver.init_, "nvmlInit")) {
    return base::failure(kLibrary, "has no function nvmlInit");
  }
  if (!find(handle, &driver.device_count_, "nvmlDeviceGetCount_v2") &&
      !find(handle, &driver.device_count_, "nvmlDeviceGetCount")) {
    return base::failure(kLibrary, "has no function nvmlDeviceGetCount");
  }
  if (!find(handle, &driver.device_by_index_, "nvmlDeviceGetHandleByIndex_v2") &&
      !find(handle, &driver.device_by_index_, "nvmlDeviceGetHandleByIndex")) {
    return base::failure(kLibrary, "has no function nvmlDeviceGetHandleByIndex");
  }
  find(handle, &driver.error_string_, "nvmlErrorString");
  find(handle, &driver.driver_version_, "nvmlSystemGetDriverVersion");
  find(handle, &driver.process_name_, "nvmlSystemGetProcessName");
  find(handle, &driver.device_uuid_, "nvmlDeviceGetUUID");
  find(handle, &driver.device_name_, "nvmlDeviceGetName");
  find(handle, &driver.memory_info_, "nvmlDeviceGetMemoryInfo");
  find(handle, &driver.persistence_mode_, "nvmlDeviceGetPersistenceMode");
  find(handle, &driver.compute_mode_, "nvmlDeviceGetComputeMode");
  find(handle, &driver.mig_mode_, "nvmlDeviceGetMigMode");
  find(handle, &driver.processes_[0], "nvmlDeviceGetComputeRunningProcesses");
  find(handle, &driver.processes_[1], "nvmlDeviceGetComputeRunningProcesses_v2");
  find(handle, &driver.processes_[2], "nvmlDeviceGetComputeRunningProcesses_v3");
  return driver;
}

std::string NvmlDriver::refusal(const char* call, gpu::NvmlReturn result) const {
  const char* text = error_string_ != nullptr ? error_string_(result) : nullptr;
  return text != nullptr ? fmt::format("{} returned {} ({})", call, result, evidence::clean_text(text))
                         : fmt::format("{} returned {}", call, result);
}

base::Result<void> NvmlDriver::init() const {
  const gpu::NvmlReturn result = init_();
  if (result != gpu::kNvmlSuccess) return base::failure("", refusal("nvmlInit", result));
  return {};
}

std::string NvmlDriver::driver_version() const {
  char text[gpu::kNvmlVersionTextBytes + 1] = {};
  if (driver_version_ == nullptr || driver_version_(text, gpu::kNvmlVersionTextBytes) != gpu::kNvmlSuccess) {
    return {};
  }
  return evidence::clean_text(text);
}

base::Result<int> NvmlDriver::device_count() const {
  unsigned count = 0;
  const gpu::NvmlReturn result = device_count_(&count);
  if (result != gpu::kNvmlSuccess) return base::failure("", refusal("nvmlDeviceGetCount", result));
  if (count > kMaxDevices) {
    return base::failure("", fmt::format("nvmlDeviceGetCount told {} devices: not believed", count));
  }
  return static_cast<int>(count);
}

base::Result<gpu::NvmlDevice> NvmlDriver::device(int index) const {
  gpu::NvmlDevice device = nullptr;
  const gpu::NvmlReturn result = device_by_index_(static_cast<unsigned>(index), &device);
  if (result != gpu::kNvmlSuccess) {
    return base::failure("", refusal("nvmlDeviceGetHandleByIndex", result));
  }
  return device;
}

std::string NvmlDriver::uuid(gpu::NvmlDevice device) const {
  char text[gpu::kNvmlUuidTextBytes + 1] = {};
  if (device_uuid_ == nullptr || device_uuid_(device, text, gpu::kNvmlUuidTextBytes) != gpu::kNvmlSuccess) {
    return {};
  }
  return evidence::clean_text(text);
}

DeviceFacts NvmlDriver::describe(int index, gpu::NvmlDevice device) const {
  DeviceFacts facts;
  facts.nvml_index = index;
  facts.uuid = uuid(device);
  char name[gpu::kNvmlNameTextBytes + 1] = {};
  if (device_name_ != nullptr && device_name_(device, name, gpu::kNvmlNameTextBytes) == gpu::kNvmlSuccess) {
    facts.name = evidence::clean_text(name);
  }
  gpu::NvmlMemory memory{};
  if (memory_info_ != nullptr && memory_info_(device, &memory) == gpu::kNvmlSuccess) {
    facts.memory_total_bytes = memory.total;
    facts.memory_free_bytes = memory.free;
  }
  int mode = 0;
  if (persistence_mode_ != nullptr && persistence_mode_(device, &mode) == gpu::kNvmlSuccess) {
    facts.persistence_mode = mode != 0;
  }
  if (compute_mode_ != nullptr && compute_mode_(device, &mode) == gpu::kNvmlSuccess) {
    facts.compute_mode = mode;
  }
  unsigned current = 0;
  unsigned pending = 0;
  if (mig_mode_ != nullptr && mig_mode_(device, &current, &pending) == gpu::kNvmlSuccess) {
    facts.mig_enabled = current != 0;
  }
  return facts;
}

std::string NvmlDriver::process_name(int64_t pid) const {
  char name[1024] = {};
  if (process_name_ == nullptr ||
      process_name_(static_cast<unsigned>(pid), name, sizeof name - 1) != gpu::kNvmlSuccess) {
    return {};
  }
  return evidence::clean_text(name);
}

std::optional<int> NvmlDriver::index_of(const std::string& wanted) const {
  const auto count = device_count();
  if (!count || wanted.empty()) return std::nullopt;
  for (int index = 0; index < *count; ++index) {
    const auto handle = device(index);
    if (handle && strcasecmp(uuid(*handle).c_str(), wanted.c_str()) == 0) return index;
  }
  return std::nullopt;
}

base::Result<ProcessList> NvmlDriver::list(int version, int index) const {
  const auto call = processes_[version - 1];
  const std::string name =
      "nvmlDeviceGetComputeRunningProcesses" + (version == 1 ? "" : "_v" + std::to_string(version));
  if (call == nullptr) return base::failure("", name + " is missing");
  const auto handle = device(index);
  if (!handle) return tl::unexpected(handle.error());
  unsigned capacity = kFirstCapacity;
  for (int attempt = 0; attempt < kMaxAttempts && capacity <= kMaxCapacity; ++attempt) {
    std::vector<unsigned char> buffer(capacity * kMaxStrideBytes, kSentinel);
    unsigned count = capacity;
    const gpu::NvmlReturn result = call(*handle, &count, buffer.data());
    if (result == gpu::kNvmlInsufficientSize) {
      capacity = 2 * std::max(count, capacity);
      continue;
    }
    if (result != gpu::kNvmlSuccess) return base::failure("", refusal(name.c_str(), result));
    if (count > capacity) return base::failure("", name + " told more entries than there was room for");
    ProcessList list;
    list.stride_bytes = measured_stride(buffer, count);
    if (count == 0) return list;
    const size_t stride =
        version == 1 ? sizeof(gpu::NvmlProcessInfoV1) : static_cast<size_t>(list.stride_bytes.value_or(0));
    if (stride == 0) return base::failure("", name + " wrote entries of no plausible size");
    list.processes = read_entries(buffer, count, stride, index);
    return list;
  }
  return base::failure("", name + " asks for ever more room");
}

base::Result<std::vector<ListedProcess>> NvmlDriver::list(std::optional<int> index) const {
  std::vector<ListedProcess> all;
  const auto count = device_count();
  if (!count) return tl::unexpected(count.error());
  for (int at = index.value_or(0); at < (index ? *index + 1 : *count); ++at) {
    auto found = list(1, at);
    for (int version = 2; version <= kVersions && !found; ++version) {
      if (auto newer = list(version, at)) found = std::move(newer);
    }
    if (!found) return tl::unexpected(found.error());
    all.insert(all.end(), found->processes.begin(), found->processes.end());
  }
  return all;
}

base::Result<std::vector<ListedProcess>> NvmlDriver::list_without(const std::set<int64_t>& gone,
                                                                  std::optional<int> index) const {
  const int64_t end_ns = base::monotonic_ns() + base::kNsPerSecond;
  for (;;) {
    auto found = list(index);
    const bool clear =
        !found || std::none_of(found->begin(), found->end(),
                               [&](const ListedProcess& process) { return gone.contains(process.pid); });
    if (clear || base::monotonic_ns() > end_ns) return found;
    poll(nullptr, 0, kLingerMs);
  }
}

std::optional<int> NvmlDriver::stride(int version) const {
  const auto count = device_count();
  for (int index = 0; count && index < *count; ++index) {
    const auto found = list(version, index);
    if (found && found->stride_bytes) return found->stride_bytes;
  }
  return std::nullopt;
}

}  // namespace rollcall::probe
