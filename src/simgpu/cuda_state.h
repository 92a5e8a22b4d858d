// What the stand-in libcuda knows about its process: whether cuInit was called,
// which GPUs are visible, which contexts exist. Contexts are rows of a bounded
// table, and a CuContext is the address of a row: no allocation, and a foreign
// pointer is told apart by its range. One lock over everything, held over a
// blocking call too: the real driver serialises a process in much the same way.
#pragma once

#include <pthread.h>

#include <atomic>

#include "gpu/abi.h"
#include "simgpu/client.h"
#include "simgpu/fork_guard.h"
#include "simgpu/visible_devices.h"

#define ROLLCALL_API extern "C" __attribute__((visibility("default")))

namespace rollcall::simgpu::cuda {

// Results of the CUDA driver that only a stand-in needs to give.
inline constexpr gpu::CuResult kInvalidHandle = 400;

inline constexpr unsigned kMaxContexts = 64;
inline constexpr unsigned kMaxStackDepth = 32;

struct Context {
  bool alive = false;
  gpu::CuDevice device = 0;  // CUDA ordinal
  uint64_t id = 0;           // the daemon's name for it
};

// The primary context of a device counts its users in the library: only the
// first retain and the last release reach the node.
struct Primary {
  unsigned users = 0;
  Context* context = nullptr;  // null: none alive (never made, or reset)
};

struct State {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Client client;
  std::atomic<bool> started{false};      // cuInit was begun and has not failed
  std::atomic<bool> initialised{false};  // cuInit succeeded
  VisibleDevices devices;
  Primary primary[kMaxGpus];
  Context contexts[kMaxContexts];
};

extern State g_state;
extern ForkGuard g_guard;

// The calling thread's current contexts; the last one is current.
struct ContextStack {
  unsigned depth = 0;
  Context* contexts[kMaxStackDepth] = {};

  [[nodiscard]] Context* top() const { return depth == 0 ? nullptr : contexts[depth - 1]; }
  bool push(Context* context);
  Context* pop() { return depth == 0 ? nullptr : contexts[--depth]; }
  bool replace_top(Context* context);  // null leaves the stack without its top
};
extern thread_local constinit ContextStack t_stack;  // constinit: no wrapper function around each use

class Lock {
 public:
  Lock() { pthread_mutex_lock(&g_state.mutex); }
  ~Lock() { pthread_mutex_unlock(&g_state.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// False before cuInit has succeeded, and in a child that inherited it.
inline bool usable() {
  return g_state.initialised.load(std::memory_order_acquire) && !g_guard.inherited();
}

// Makes the state this process's own; see ForkGuard.
bool claim_state();

inline bool known_device(gpu::CuDevice device) {
  return device >= 0 && static_cast<unsigned>(device) < g_state.devices.count;
}

// The row that a handle names, or null if it names no living context.
Context* living(gpu::CuContext context);
inline gpu::CuContext handle(Context* context) {
  return reinterpret_cast<gpu::CuContext>(context);
}

// With the lock held: one call to the node, its status as a CUDA result.
gpu::CuResult node_call(Operation operation, const Request& request, Reply* reply);
gpu::CuResult create_context(gpu::CuDevice device, Context** context);
gpu::CuResult destroy_context(Context* context);

}  // namespace rollcall::simgpu::cuda
