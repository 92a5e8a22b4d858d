// Stand-in libcuda, third part: memory of the current context, and a kernel
// launch that does nothing. The unsuffixed names have the signatures of the
// current ones: the 32-bit forms that they stood for before CUDA 3.2 would
// write half a pointer, and nobody calls those any more.
#include "simgpu/cuda_state.h"

using namespace rollcall;
using namespace rollcall::simgpu;
using namespace rollcall::simgpu::cuda;

namespace {

// The calling thread's current context, if it is still alive; with the lock held.
Context* current() {
  return living(handle(t_stack.top()));
}

}  // namespace

ROLLCALL_API gpu::CuResult cuMemAlloc_v2(gpu::CuDevicePtr* pointer, size_t bytes) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  const Context* context = current();
  if (context == nullptr) return gpu::kCudaInvalidContext;
  if (pointer == nullptr || bytes == 0) return gpu::kCudaInvalidValue;
  Request request;
  request.object = context->id;
  request.size = bytes;
  Reply reply;
  const gpu::CuResult result = node_call(Operation::kMemoryAllocate, request, &reply);
  if (result == gpu::kCudaSuccess) *pointer = reply.value;
  return result;
}
ROLLCALL_API gpu::CuResult cuMemAlloc(gpu::CuDevicePtr*, size_t) __attribute__((alias("cuMemAlloc_v2")));

ROLLCALL_API gpu::CuResult cuMemFree_v2(gpu::CuDevicePtr pointer) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  if (current() == nullptr) return gpu::kCudaInvalidContext;
  if (pointer == 0) return gpu::kCudaSuccess;
  Request request;
  request.object = pointer;
  Reply reply;
  return node_call(Operation::kMemoryFree, request, &reply);
}
ROLLCALL_API gpu::CuResult cuMemFree(gpu::CuDevicePtr) __attribute__((alias("cuMemFree_v2")));

ROLLCALL_API gpu::CuResult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  const Context* context = current();
  if (context == nullptr) return gpu::kCudaInvalidContext;
  if (free_bytes == nullptr || total_bytes == nullptr) return gpu::kCudaInvalidValue;
  Request request;
  request.gpu = g_state.devices.gpu[context->device];
  Reply reply;
  const gpu::CuResult result = node_call(Operation::kMemoryInfo, request, &reply);
  if (result != gpu::kCudaSuccess) return result;
  *free_bytes = reply.value;
  *total_bytes = reply.value2;
  return gpu::kCudaSuccess;
}
ROLLCALL_API gpu::CuResult cuMemGetInfo(size_t*, size_t*) __attribute__((alias("cuMemGetInfo_v2")));

// No modules can be loaded here, so every function handle is the caller's
// invention; any but null is taken, and takes no time.
ROLLCALL_API gpu::CuResult cuLaunchKernel(gpu::CuFunction function, unsigned /*grid_x*/, unsigned /*grid_y*/,
                                          unsigned /*grid_z*/, unsigned /*block_x*/, unsigned /*block_y*/,
                                          unsigned /*block_z*/, unsigned /*shared_bytes*/,
                                          gpu::CuStream /*stream*/, void** /*parameters*/, void** /*extra*/) {
  if (!usable()) return gpu::kCudaNotInitialized;
  const Lock lock;
  if (current() == nullptr) return gpu::kCudaInvalidContext;
  return function == nullptr ? kInvalidHandle : gpu::kCudaSuccess;
}
