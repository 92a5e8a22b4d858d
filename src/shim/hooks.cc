// cuInit, where discovery takes place, and cuGetProcAddress in both forms, so
// that a program that asks the driver itself for a function gets the hook, too. The
// driver's own results go through untouched, whatever discovery did.
#include "shim/hooks.h"

#include <string.h>

#include "base/clock.h"
#include "gpu/abi.h"
#include "shim/added_time.h"
#include "shim/context_hooks.h"
#include "shim/discovery.h"
#include "shim/real_function.h"

#define ROLLCALL_EXPORT extern "C" __attribute__((visibility("default")))

using rollcall::gpu::CuResult;

ROLLCALL_EXPORT CuResult cuInit(unsigned flags);
ROLLCALL_EXPORT CuResult cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                          uint64_t flags);
ROLLCALL_EXPORT CuResult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                             uint64_t flags, int* query_result);

namespace rollcall::shim {
namespace {

// From this version on, cuGetProcAddress("cuGetProcAddress") gives the second
// form (CUDA 12.0, which introduced it).
constexpr int kSecondFormVersion = 12000;

constexpr char kCuInit[] = "cuInit";
constexpr char kCuGetProcAddress[] = "cuGetProcAddress";
constexpr char kCuGetProcAddressV2[] = "cuGetProcAddress_v2";

void* cu_init_hook() {
  return reinterpret_cast<void*>(&::cuInit);
}
void* cu_get_proc_address_hook() {
  return reinterpret_cast<void*>(&::cuGetProcAddress);
}
void* cu_get_proc_address_v2_hook() {
  return reinterpret_cast<void*>(&::cuGetProcAddress_v2);
}

constexpr Hook kHooks[] = {
    {kCuInit, &cu_init_hook, &Real<kCuInit>::remember},
    {kCuGetProcAddress, &cu_get_proc_address_hook, &Real<kCuGetProcAddress>::remember},
    {kCuGetProcAddressV2, &cu_get_proc_address_v2_hook, &Real<kCuGetProcAddressV2>::remember},
};

// Under which of the exported names the driver's answer to this question is known.
const char* exported_name(const char* symbol, int cuda_version) {
  const bool second_form = strcmp(symbol, kCuGetProcAddress) == 0 && cuda_version >= kSecondFormVersion;
  return second_form ? kCuGetProcAddressV2 : context_symbol(symbol, cuda_version);
}

}  // namespace

const Hook* find_hook(const char* name) {
  for (const Hook& hook : kHooks) {
    if (strcmp(hook.name, name) == 0) return &hook;
  }
  for (size_t i = 0; i < kContextHookCount; ++i) {
    if (strcmp(kContextHooks[i].name, name) == 0) return &kContextHooks[i];
  }
  return nullptr;
}

void* substitute(const char* name, void* function) {
  const Hook* hook = find_hook(name);
  if (hook == nullptr || function == nullptr) return function;
  void* replacement = hook->replacement();
  return function == replacement || hook->remember(function) ? replacement : function;
}

}  // namespace rollcall::shim

using namespace rollcall;
using namespace rollcall::shim;

ROLLCALL_EXPORT CuResult cuInit(unsigned flags) {
  const int64_t start_ns = base::monotonic_ns();
  const auto real = reinterpret_cast<gpu::CuInitFn>(Real<kCuInit>::get());
  if (real == nullptr) return gpu::kCudaNotFound;
  const int64_t real_start_ns = base::monotonic_ns();
  const CuResult result = real(flags);
  const int64_t real_end_ns = base::monotonic_ns();
  if (result != gpu::kCudaSuccess) return result;
  RegionSlot* slot = discover_at_init();
  add_time(base::monotonic_ns() - start_ns - (real_end_ns - real_start_ns));
  if (slot != nullptr) slot->added_ns = added_time_ns();
  return result;
}

ROLLCALL_EXPORT CuResult cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                          uint64_t flags) {
  const auto real = reinterpret_cast<gpu::CuGetProcAddressFn>(Real<kCuGetProcAddress>::get());
  if (real == nullptr) return gpu::kCudaNotFound;
  const CuResult result = real(symbol, function, cuda_version, flags);
  if (result != gpu::kCudaSuccess || symbol == nullptr || function == nullptr) return result;
  *function = substitute(exported_name(symbol, cuda_version), *function);
  return result;
}

ROLLCALL_EXPORT CuResult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                             uint64_t flags, int* query_result) {
  const auto real = reinterpret_cast<gpu::CuGetProcAddressV2Fn>(Real<kCuGetProcAddressV2>::get());
  if (real == nullptr) return gpu::kCudaNotFound;
  const CuResult result = real(symbol, function, cuda_version, flags, query_result);
  if (result != gpu::kCudaSuccess || symbol == nullptr || function == nullptr) return result;
  *function = substitute(exported_name(symbol, cuda_version), *function);
  return result;
}
