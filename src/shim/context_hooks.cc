// All of these functions take the place of the new context first and return a CUresult,
// and differ in what follows: at most four more arguments, each in a register of its own.
// So one hook serves all: it hands five words through, whatever they mean to the one
// behind it. (That calls a function by another type than its own, which C++ leaves
// undefined and the calling conventions of x86-64 and AArch64 define: arguments of
// integer and pointer type are passed in the same registers, and those that a function
// does not take are ignored.)
#include "shim/context_hooks.h"

#include <string.h>

#include "base/clock.h"
#include "gpu/abi.h"
#include "shim/added_time.h"
#include "shim/discovery.h"
#include "shim/real_function.h"

#define ROLLCALL_EXPORT extern "C" __attribute__((visibility("default")))

namespace rollcall::shim {
namespace {

using Word = void*;
using ContextFn = gpu::CuResult (*)(gpu::CuContext* context, Word, Word, Word, Word);

gpu::CuResult make_context(void* real_function, gpu::CuContext* context, Word a, Word b, Word c, Word d) {
  const auto real = reinterpret_cast<ContextFn>(real_function);
  if (real == nullptr) return gpu::kCudaNotFound;
  const gpu::CuResult result = real(context, a, b, c, d);
  if (result != gpu::kCudaSuccess || context == nullptr || *context == nullptr) return result;
  const int64_t start_ns = base::monotonic_ns();
  RegionSlot* slot = discover_with_context(*context);
  add_time(base::monotonic_ns() - start_ns);
  // Everything since cuInit: looking the context functions up is part of it.
  // A program that came here past our cuInit has no time of that.
  if (slot != nullptr) {
    slot->context_added_ns = added_time_ns() - (slot->added_ns == kRegionUnset ? 0 : slot->added_ns);
  }
  return result;
}

}  // namespace

// X(name): the names under which the driver shows a way to a context.
#define ROLLCALL_CONTEXT_FUNCTIONS(X) \
  X(cuDevicePrimaryCtxRetain)         \
  X(cuCtxCreate)                      \
  X(cuCtxCreate_v2)                   \
  X(cuCtxCreate_v3)                   \
  X(cuCtxCreate_v4)

#define ROLLCALL_DECLARE(name) inline constexpr char kName_##name[] = #name;
ROLLCALL_CONTEXT_FUNCTIONS(ROLLCALL_DECLARE)
#undef ROLLCALL_DECLARE

}  // namespace rollcall::shim

#define ROLLCALL_HOOK(name)                                                                                  \
  ROLLCALL_EXPORT rollcall::gpu::CuResult name(rollcall::gpu::CuContext* context, void* a, void* b, void* c, \
                                               void* d) {                                                    \
    using namespace rollcall::shim;                                                                          \
    return make_context(Real<kName_##name>::get(), context, a, b, c, d);                                     \
  }
ROLLCALL_CONTEXT_FUNCTIONS(ROLLCALL_HOOK)
#undef ROLLCALL_HOOK

namespace rollcall::shim {

#define ROLLCALL_ROW(name) \
  {kName_##name, [] { return reinterpret_cast<void*>(&::name); }, &Real<kName_##name>::remember},
const Hook kContextHooks[] = {ROLLCALL_CONTEXT_FUNCTIONS(ROLLCALL_ROW)};
#undef ROLLCALL_ROW
const size_t kContextHookCount = sizeof kContextHooks / sizeof kContextHooks[0];

// The versions of CUDA that brought each form (public documentation: 3.2 the second, 11.4
// the third, 12.5 the fourth).
const char* context_symbol(const char* symbol, int cuda_version) {
  if (strcmp(symbol, kName_cuCtxCreate) != 0) return symbol;
  if (cuda_version >= 12050) return kName_cuCtxCreate_v4;
  if (cuda_version >= 11040) return kName_cuCtxCreate_v3;
  return cuda_version >= 3020 ? kName_cuCtxCreate_v2 : kName_cuCtxCreate;
}

}  // namespace rollcall::shim
