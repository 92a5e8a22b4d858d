// Stand-in libnvidia-ml, first part: initialisation, and what concerns the node
// as a whole.
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "simgpu/nvml_state.h"

using namespace rollcall;  // the API below is C: it has no namespace of its own
using namespace rollcall::simgpu;
using namespace rollcall::simgpu::nvml;

namespace rollcall::simgpu::nvml {

constinit State g_state;
constinit ForkGuard g_guard;

bool claim_state() {
  return g_guard.claim([] {
    // A thread of the parent may have held the lock when this process was forked.
    g_state.mutex = PTHREAD_MUTEX_INITIALIZER;
    g_state.client.forget();
    g_state.users.store(0, std::memory_order_relaxed);
  });
}

bool gpu_of(gpu::NvmlDevice device, unsigned* gpu) {
  const auto address = reinterpret_cast<uintptr_t>(device);
  const auto first = reinterpret_cast<uintptr_t>(&g_state.devices[0]);
  if (address < first || address - first >= g_state.client.node().gpus) return false;
  *gpu = static_cast<unsigned>(address - first);
  return true;
}

gpu::NvmlReturn node_call(Operation operation, const Request& request, Reply* reply) {
  if (!g_state.client.call(operation, request, reply)) return gpu::kNvmlUnknown;
  switch (reply->status) {
    case Status::kOk:
      return gpu::kNvmlSuccess;
    case Status::kUnknownObject:
      return gpu::kNvmlInvalidArgument;
    case Status::kNoPermission:
      return gpu::kNvmlNoPermission;
    default:
      return gpu::kNvmlUnknown;
  }
}

gpu::NvmlReturn copy_text(const char* text, char* buffer, unsigned capacity) {
  const size_t size = strlen(text) + 1;
  if (size > capacity) return gpu::kNvmlInsufficientSize;
  memcpy(buffer, text, size);
  return gpu::kNvmlSuccess;
}

}  // namespace rollcall::simgpu::nvml

// Counted: every success needs its own nvmlShutdown. Only the first reaches the node.
ROLLCALL_API gpu::NvmlReturn nvmlInit_v2() {
  if (!claim_state()) return gpu::kNvmlUnknown;
  const Lock lock;
  if (g_state.users.load(std::memory_order_acquire) == 0) {
    g_state.client.close();
    const Link link = g_state.client.open();
    if (link == Link::kNoNode) return gpu::kNvmlDriverNotLoaded;
    if (link != Link::kOpen) return gpu::kNvmlUnknown;
    Reply reply;
    const gpu::NvmlReturn result = node_call(Operation::kNvmlInit, Request{}, &reply);
    if (result != gpu::kNvmlSuccess) {
      g_state.client.close();
      return result;
    }
  }
  g_state.users.fetch_add(1, std::memory_order_acq_rel);
  return gpu::kNvmlSuccess;
}
ROLLCALL_API gpu::NvmlReturn nvmlInit() __attribute__((alias("nvmlInit_v2")));

// The flags say what may be missing and what not to attach to; here nothing is.
ROLLCALL_API gpu::NvmlReturn nvmlInitWithFlags(unsigned /*flags*/) {
  return nvmlInit_v2();
}

ROLLCALL_API gpu::NvmlReturn nvmlShutdown() {
  if (!usable()) return gpu::kNvmlUninitialized;
  const Lock lock;
  if (g_state.users.load(std::memory_order_acquire) == 0) return gpu::kNvmlUninitialized;
  if (g_state.users.fetch_sub(1, std::memory_order_acq_rel) == 1) g_state.client.close();
  return gpu::kNvmlSuccess;
}

ROLLCALL_API gpu::NvmlReturn nvmlSystemGetDriverVersion(char* version, unsigned length) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (version == nullptr) return gpu::kNvmlInvalidArgument;
  return copy_text(g_state.client.node().driver_version, version, length);
}

// The real one is documented without the need of nvmlInit; this one learns it by connecting.
ROLLCALL_API gpu::NvmlReturn nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (version == nullptr) return gpu::kNvmlInvalidArgument;
  *version = g_state.client.node().cuda_version;
  return gpu::kNvmlSuccess;
}
ROLLCALL_API gpu::NvmlReturn nvmlSystemGetCudaDriverVersion(int*)
    __attribute__((alias("nvmlSystemGetCudaDriverVersion_v2")));

// Looked up in the caller's own /proc, where a number of another namespace's
// numbering names another process or none; the name is cut to the room.
ROLLCALL_API gpu::NvmlReturn nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  if (!usable()) return gpu::kNvmlUninitialized;
  if (name == nullptr || length == 0) return gpu::kNvmlInvalidArgument;
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/comm", pid);
  char text[64];
  ssize_t size = base::read_small_file(path, text, sizeof text);
  if (size <= 0) return gpu::kNvmlNotFound;
  if (text[size - 1] == '\n') --size;
  if (size > static_cast<ssize_t>(length) - 1) size = static_cast<ssize_t>(length) - 1;
  memcpy(name, text, static_cast<size_t>(size));
  name[size] = '\0';
  return gpu::kNvmlSuccess;
}

ROLLCALL_API const char* nvmlErrorString(gpu::NvmlReturn result) {
  switch (result) {
    case gpu::kNvmlSuccess:
      return "Success";
    case gpu::kNvmlUninitialized:
      return "Uninitialized";
    case gpu::kNvmlInvalidArgument:
      return "Invalid Argument";
    case gpu::kNvmlNotSupported:
      return "Not Supported";
    case gpu::kNvmlNoPermission:
      return "Insufficient Permissions";
    case gpu::kNvmlNotFound:
      return "Not Found";
    case gpu::kNvmlInsufficientSize:
      return "Insufficient Size";
    case gpu::kNvmlDriverNotLoaded:
      return "Driver Not Loaded";
    case gpu::kNvmlArgumentVersionMismatch:
      return "Argument version mismatch";
    default:
      return "Unknown Error";
  }
}
