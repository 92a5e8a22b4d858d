// See cuda_driver.h. The _v2 names come first: the unsuffixed ones of a real driver
// are the forms of before CUDA 3.2, with 32-bit sizes.
#include "probe/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "base/files.h"

namespace rollcall::probe {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr size_t kMaxMapsBytes = size_t{16} << 20;

template <typename Function>
void find(void* handle, Function* function, const char* name) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

base::Result<CudaDriver> CudaDriver::load() {
  void* handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return base::failure(kLibrary,
                         fmt::format("cannot be loaded: {}", reason != nullptr ? reason : "unknown"),
                         "is the NVIDIA driver installed, and given to this container?");
  }
  CudaDriver driver;
  std::string missing;
  const auto need = [&](auto* function, const char* name) {
    find(handle, function, name);
    if (*function == nullptr && missing.empty()) missing = name;
  };
  need(&driver.init, "cuInit");
  need(&driver.driver_get_version, "cuDriverGetVersion");
  need(&driver.device_get_count, "cuDeviceGetCount");
  need(&driver.device_get, "cuDeviceGet");
  find(handle, &driver.device_get_uuid, "cuDeviceGetUuid_v2");  // since CUDA 11.4
  if (driver.device_get_uuid == nullptr) need(&driver.device_get_uuid, "cuDeviceGetUuid");
  need(&driver.primary_retain, "cuDevicePrimaryCtxRetain");
  find(handle, &driver.primary_release, "cuDevicePrimaryCtxRelease_v2");  // since CUDA 11.0
  if (driver.primary_release == nullptr) need(&driver.primary_release, "cuDevicePrimaryCtxRelease");
  need(&driver.ctx_create, "cuCtxCreate_v2");
  need(&driver.ctx_destroy, "cuCtxDestroy_v2");
  need(&driver.ctx_set_current, "cuCtxSetCurrent");
  need(&driver.mem_alloc, "cuMemAlloc_v2");
  need(&driver.mem_free, "cuMemFree_v2");
  find(handle, &driver.get_error_name, "cuGetErrorName");
  if (!missing.empty()) {
    return base::failure(kLibrary, fmt::format("has no function {}", missing), "CUDA 9.2 or newer is needed");
  }
  return driver;
}

std::string CudaDriver::refusal(const char* call, gpu::CuResult result) const {
  const char* name = nullptr;
  if (get_error_name != nullptr && get_error_name(result, &name) == gpu::kCudaSuccess && name != nullptr) {
    return fmt::format("{} returned {} ({})", call, result, name);
  }
  if (result == gpu::kCudaNoDevice) return fmt::format("{} returned {} (no device)", call, result);
  if (result == gpu::kCudaOutOfMemory) return fmt::format("{} returned {} (out of memory)", call, result);
  return fmt::format("{} returned {}", call, result);
}

base::Result<void> CudaDriver::check(const char* call, gpu::CuResult result) const {
  if (result == gpu::kCudaSuccess) return {};
  return base::failure("", refusal(call, result));
}

base::Result<gpu::CuDevice> CudaDriver::open_device(int ordinal) const {
  gpu::CuDevice device = 0;
  if (auto done = check("cuInit", init(0)); !done) return tl::unexpected(done.error());
  if (auto done = check("cuDeviceGet", device_get(&device, ordinal)); !done) {
    return tl::unexpected(done.error());
  }
  return device;
}

base::Result<std::string> CudaDriver::uuid_of(gpu::CuDevice device) const {
  gpu::CuUuid uuid{};
  if (auto done = check("cuDeviceGetUuid", device_get_uuid(&uuid, device)); !done) {
    return tl::unexpected(done.error());
  }
  return uuid_text(uuid);
}

std::string CudaDriver::library_file() const {
  const auto maps = base::read_file("/proc/self/maps", kMaxMapsBytes);
  return maps ? file_that_maps(*maps, reinterpret_cast<uintptr_t>(driver_get_version)) : std::string();
}

std::string uuid_text(const gpu::CuUuid& uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

std::string file_that_maps(const std::string& maps, uintptr_t address) {
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    char* end = nullptr;
    const uintptr_t first = std::strtoul(line.c_str(), &end, 16);
    if (end == line.c_str() || *end != '-') continue;
    const uintptr_t last = std::strtoul(end + 1, nullptr, 16);
    const size_t path = line.find('/');
    if (address >= first && address < last) {
      return path == std::string::npos ? std::string() : line.substr(path);
    }
  }
  return {};
}

}  // namespace rollcall::probe
