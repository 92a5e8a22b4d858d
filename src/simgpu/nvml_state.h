// What the stand-in libnvidia-ml knows about its process: a count of nvmlInit
// calls and its own connection to the node. It shares nothing with the stand-in
// libcuda: a process may load either, or both.
#pragma once

#include <pthread.h>

#include <atomic>

#include "gpu/abi.h"
#include "simgpu/client.h"
#include "simgpu/fork_guard.h"

#define ROLLCALL_API extern "C" __attribute__((visibility("default")))

namespace rollcall::simgpu::nvml {

struct State {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Client client;
  std::atomic<unsigned> users{0};  // nvmlInit calls not yet shut down
  char devices[kMaxGpus] = {};     // an nvmlDevice_t is the address of one
};

extern State g_state;
extern ForkGuard g_guard;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&g_state.mutex); }
  ~Lock() { pthread_mutex_unlock(&g_state.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// False before nvmlInit, after the last nvmlShutdown, and in a forked child.
inline bool usable() {
  return g_state.users.load(std::memory_order_acquire) > 0 && !g_guard.inherited();
}

bool claim_state();

// Whether a handle names a GPU of the node; its index if so.
bool gpu_of(gpu::NvmlDevice device, unsigned* gpu);
inline gpu::NvmlDevice handle_of(unsigned gpu) {
  return reinterpret_cast<gpu::NvmlDevice>(&g_state.devices[gpu]);
}

// With the lock held: one call to the node, its status as an NVML result.
gpu::NvmlReturn node_call(Operation operation, const Request& request, Reply* reply);

// Copies a text with its closing NUL, or says that there is no room.
gpu::NvmlReturn copy_text(const char* text, char* buffer, unsigned capacity);

}  // namespace rollcall::simgpu::nvml
