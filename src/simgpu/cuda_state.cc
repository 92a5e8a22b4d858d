// The state is one object, all zero at the start, so that the loader has
// nothing to do for it; the first call of a process makes it that process's own.
#include "simgpu/cuda_state.h"

namespace rollcall::simgpu::cuda {

constinit State g_state;
constinit ForkGuard g_guard;
thread_local constinit ContextStack t_stack;

bool ContextStack::push(Context* context) {
  if (depth == kMaxStackDepth) return false;
  contexts[depth++] = context;
  return true;
}

bool ContextStack::replace_top(Context* context) {
  if (depth > 0) --depth;
  return context == nullptr || push(context);
}

bool claim_state() {
  return g_guard.claim([] {
    // A thread of the parent may have held the lock when this process was forked.
    g_state.mutex = PTHREAD_MUTEX_INITIALIZER;
    g_state.client.forget();
    g_state.started.store(false, std::memory_order_relaxed);
    g_state.initialised.store(false, std::memory_order_relaxed);
  });
}

Context* living(gpu::CuContext context) {
  const auto address = reinterpret_cast<uintptr_t>(context);
  const auto first = reinterpret_cast<uintptr_t>(&g_state.contexts[0]);
  const uintptr_t offset = address - first;
  if (address < first || offset >= sizeof g_state.contexts || offset % sizeof(Context) != 0) return nullptr;
  Context* row = &g_state.contexts[offset / sizeof(Context)];
  return row->alive ? row : nullptr;
}

gpu::CuResult node_call(Operation operation, const Request& request, Reply* reply) {
  if (!g_state.client.call(operation, request, reply)) return gpu::kCudaSystemNotReady;
  switch (reply->status) {
    case Status::kOk:
      return gpu::kCudaSuccess;
    case Status::kOutOfMemory:
      return gpu::kCudaOutOfMemory;
    case Status::kNotInitialized:
      return gpu::kCudaNotInitialized;
    case Status::kUnknownObject:
      return gpu::kCudaInvalidValue;
    case Status::kInvalid:
    case Status::kTooManyClients:
    case Status::kUnidentified:
      return gpu::kCudaSystemNotReady;
    case Status::kFailed:
    case Status::kNoPermission:
      return gpu::kCudaUnknown;
  }
  return gpu::kCudaUnknown;
}

gpu::CuResult create_context(gpu::CuDevice device, Context** context) {
  Context* row = nullptr;
  for (Context& candidate : g_state.contexts) {
    if (!candidate.alive) {
      row = &candidate;
      break;
    }
  }
  if (row == nullptr) return gpu::kCudaOutOfMemory;
  Request request;
  request.gpu = g_state.devices.gpu[device];
  Reply reply;
  const gpu::CuResult result = node_call(Operation::kContextCreate, request, &reply);
  if (result != gpu::kCudaSuccess) return result;
  row->id = reply.value;
  row->device = device;
  row->alive = true;
  *context = row;
  return gpu::kCudaSuccess;
}

gpu::CuResult destroy_context(Context* context) {
  Request request;
  request.object = context->id;
  Reply reply;
  const gpu::CuResult result = node_call(Operation::kContextDestroy, request, &reply);
  if (result == gpu::kCudaSuccess) context->alive = false;
  return result;
}

}  // namespace rollcall::simgpu::cuda
