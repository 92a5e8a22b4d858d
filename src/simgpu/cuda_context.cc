// Stand-in libcuda, second part: contexts. A retained primary context is not
// current by itself; a created one is, in the thread that created it.
#include "simgpu/cuda_state.h"

using namespace rollcall;
using namespace rollcall::simgpu;
using namespace rollcall::simgpu::cuda;

ROLLCALL_API gpu::CuResult cuDevicePrimaryCtxRetain(gpu::CuContext* context, gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (context == nullptr) return gpu::kCudaInvalidValue;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  const Lock lock;
  Primary& primary = g_state.primary[device];
  if (primary.context == nullptr) {
    const gpu::CuResult result = create_context(device, &primary.context);
    if (result != gpu::kCudaSuccess) return result;
  }
  ++primary.users;
  *context = handle(primary.context);
  return gpu::kCudaSuccess;
}

ROLLCALL_API gpu::CuResult cuDevicePrimaryCtxRelease_v2(gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  const Lock lock;
  Primary& primary = g_state.primary[device];
  if (primary.users == 0) return gpu::kCudaInvalidContext;
  if (primary.users == 1 && primary.context != nullptr) {
    const gpu::CuResult result = destroy_context(primary.context);
    if (result != gpu::kCudaSuccess) return result;
    primary.context = nullptr;
  }
  --primary.users;
  return gpu::kCudaSuccess;
}
ROLLCALL_API gpu::CuResult cuDevicePrimaryCtxRelease(gpu::CuDevice)
    __attribute__((alias("cuDevicePrimaryCtxRelease_v2")));

// Destroys the context under its users; their releases still count, and the
// next retain makes a new one.
ROLLCALL_API gpu::CuResult cuDevicePrimaryCtxReset_v2(gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  const Lock lock;
  Primary& primary = g_state.primary[device];
  if (primary.context == nullptr) return gpu::kCudaSuccess;
  const gpu::CuResult result = destroy_context(primary.context);
  if (result == gpu::kCudaSuccess) primary.context = nullptr;
  return result;
}
ROLLCALL_API gpu::CuResult cuDevicePrimaryCtxReset(gpu::CuDevice)
    __attribute__((alias("cuDevicePrimaryCtxReset_v2")));

ROLLCALL_API gpu::CuResult cuCtxCreate_v2(gpu::CuContext* context, unsigned /*flags*/, gpu::CuDevice device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (context == nullptr) return gpu::kCudaInvalidValue;
  if (!known_device(device)) return gpu::kCudaInvalidDevice;
  if (t_stack.depth == kMaxStackDepth) return gpu::kCudaInvalidValue;
  const Lock lock;
  Context* created = nullptr;
  const gpu::CuResult result = create_context(device, &created);
  if (result != gpu::kCudaSuccess) return result;
  t_stack.push(created);
  *context = handle(created);
  return gpu::kCudaSuccess;
}
ROLLCALL_API gpu::CuResult cuCtxCreate(gpu::CuContext*, unsigned, gpu::CuDevice)
    __attribute__((alias("cuCtxCreate_v2")));
// The later forms can ask for more (an affinity, other kinds of context), of which there
// is nothing here.
ROLLCALL_API gpu::CuResult cuCtxCreate_v3(gpu::CuContext* context, void* /*parameters*/, int /*count*/,
                                          unsigned flags, gpu::CuDevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
ROLLCALL_API gpu::CuResult cuCtxCreate_v4(gpu::CuContext* context, void* /*parameters*/, unsigned flags,
                                          gpu::CuDevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

// Not for primary contexts: those are released. Destroying the calling thread's
// current context also takes it off that thread's stack.
ROLLCALL_API gpu::CuResult cuCtxDestroy_v2(gpu::CuContext context) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  Context* row = living(context);
  if (row == nullptr || row == g_state.primary[row->device].context) return gpu::kCudaInvalidContext;
  const gpu::CuResult result = destroy_context(row);
  if (result == gpu::kCudaSuccess && t_stack.top() == row) t_stack.pop();
  return result;
}
ROLLCALL_API gpu::CuResult cuCtxDestroy(gpu::CuContext) __attribute__((alias("cuCtxDestroy_v2")));

ROLLCALL_API gpu::CuResult cuCtxSetCurrent(gpu::CuContext context) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  Context* row = living(context);
  if (context != nullptr && row == nullptr) return gpu::kCudaInvalidContext;
  t_stack.replace_top(row);
  return gpu::kCudaSuccess;
}

ROLLCALL_API gpu::CuResult cuCtxGetCurrent(gpu::CuContext* context) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (context == nullptr) return gpu::kCudaInvalidValue;
  *context = handle(t_stack.top());
  return gpu::kCudaSuccess;
}

// The device of the current context, by its CUDA ordinal.
ROLLCALL_API gpu::CuResult cuCtxGetDevice(gpu::CuDevice* device) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (device == nullptr) return gpu::kCudaInvalidValue;
  const Lock lock;
  const Context* current = t_stack.top();
  if (current == nullptr || !current->alive) return gpu::kCudaInvalidContext;
  *device = current->device;
  return gpu::kCudaSuccess;
}

ROLLCALL_API gpu::CuResult cuCtxPushCurrent_v2(gpu::CuContext context) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  Context* row = living(context);
  if (row == nullptr) return gpu::kCudaInvalidContext;
  return t_stack.push(row) ? gpu::kCudaSuccess : gpu::kCudaInvalidValue;
}
ROLLCALL_API gpu::CuResult cuCtxPushCurrent(gpu::CuContext) __attribute__((alias("cuCtxPushCurrent_v2")));

ROLLCALL_API gpu::CuResult cuCtxPopCurrent_v2(gpu::CuContext* context) {
  if (!usable()) return gpu::kCudaNotInitialized;
  if (t_stack.depth == 0) return gpu::kCudaInvalidContext;
  Context* popped = t_stack.pop();
  if (context != nullptr) *context = handle(popped);
  return gpu::kCudaSuccess;
}
ROLLCALL_API gpu::CuResult cuCtxPopCurrent(gpu::CuContext*) __attribute__((alias("cuCtxPopCurrent_v2")));
