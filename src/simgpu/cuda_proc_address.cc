// Stand-in libcuda, last part: cuGetProcAddress. The versions are those in
// which the public cuda.h and cudaTypedefs.h introduce each form. The library
// is linked so that these addresses are its own functions even where a
// preloaded library has functions of the same names, as in the real driver.
#include "simgpu/cuda_state.h"
#include "simgpu/proc_table.h"

using namespace rollcall;
using namespace rollcall::simgpu;

extern "C" {
gpu::CuResult cuInit(unsigned);
gpu::CuResult cuDriverGetVersion(int*);
gpu::CuResult cuDeviceGetCount(int*);
gpu::CuResult cuDeviceGet(gpu::CuDevice*, int);
gpu::CuResult cuDeviceGetUuid(gpu::CuUuid*, gpu::CuDevice);
gpu::CuResult cuDeviceGetUuid_v2(gpu::CuUuid*, gpu::CuDevice);
gpu::CuResult cuDeviceGetName(char*, int, gpu::CuDevice);
gpu::CuResult cuDeviceTotalMem(size_t*, gpu::CuDevice);
gpu::CuResult cuDeviceTotalMem_v2(size_t*, gpu::CuDevice);
gpu::CuResult cuDeviceGetAttribute(int*, int, gpu::CuDevice);
gpu::CuResult cuDevicePrimaryCtxRetain(gpu::CuContext*, gpu::CuDevice);
gpu::CuResult cuDevicePrimaryCtxRelease(gpu::CuDevice);
gpu::CuResult cuDevicePrimaryCtxRelease_v2(gpu::CuDevice);
gpu::CuResult cuDevicePrimaryCtxReset(gpu::CuDevice);
gpu::CuResult cuDevicePrimaryCtxReset_v2(gpu::CuDevice);
gpu::CuResult cuCtxCreate(gpu::CuContext*, unsigned, gpu::CuDevice);
gpu::CuResult cuCtxCreate_v2(gpu::CuContext*, unsigned, gpu::CuDevice);
gpu::CuResult cuCtxCreate_v3(gpu::CuContext*, void*, int, unsigned, gpu::CuDevice);
gpu::CuResult cuCtxCreate_v4(gpu::CuContext*, void*, unsigned, gpu::CuDevice);
gpu::CuResult cuCtxDestroy(gpu::CuContext);
gpu::CuResult cuCtxDestroy_v2(gpu::CuContext);
gpu::CuResult cuCtxSetCurrent(gpu::CuContext);
gpu::CuResult cuCtxGetCurrent(gpu::CuContext*);
gpu::CuResult cuCtxGetDevice(gpu::CuDevice*);
gpu::CuResult cuCtxPushCurrent(gpu::CuContext);
gpu::CuResult cuCtxPushCurrent_v2(gpu::CuContext);
gpu::CuResult cuCtxPopCurrent(gpu::CuContext*);
gpu::CuResult cuCtxPopCurrent_v2(gpu::CuContext*);
gpu::CuResult cuMemAlloc(gpu::CuDevicePtr*, size_t);
gpu::CuResult cuMemAlloc_v2(gpu::CuDevicePtr*, size_t);
gpu::CuResult cuMemFree(gpu::CuDevicePtr);
gpu::CuResult cuMemFree_v2(gpu::CuDevicePtr);
gpu::CuResult cuMemGetInfo(size_t*, size_t*);
gpu::CuResult cuMemGetInfo_v2(size_t*, size_t*);
gpu::CuResult cuLaunchKernel(gpu::CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, gpu::CuStream, void**, void**);
gpu::CuResult cuGetProcAddress(const char*, void**, int, uint64_t);
gpu::CuResult cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
}

namespace {

#define ROLLCALL_PROC(name, introduced, function) \
  { name, introduced, reinterpret_cast<void*>(&(function)) }

const ProcEntry kTable[] = {
    ROLLCALL_PROC("cuInit", 2000, cuInit),
    ROLLCALL_PROC("cuDriverGetVersion", 2020, cuDriverGetVersion),
    ROLLCALL_PROC("cuDeviceGetCount", 2000, cuDeviceGetCount),
    ROLLCALL_PROC("cuDeviceGet", 2000, cuDeviceGet),
    ROLLCALL_PROC("cuDeviceGetUuid", 9020, cuDeviceGetUuid),
    ROLLCALL_PROC("cuDeviceGetUuid", 11040, cuDeviceGetUuid_v2),
    ROLLCALL_PROC("cuDeviceGetName", 2000, cuDeviceGetName),
    ROLLCALL_PROC("cuDeviceTotalMem", 2000, cuDeviceTotalMem),
    ROLLCALL_PROC("cuDeviceTotalMem", 3020, cuDeviceTotalMem_v2),
    ROLLCALL_PROC("cuDeviceGetAttribute", 2000, cuDeviceGetAttribute),
    ROLLCALL_PROC("cuDevicePrimaryCtxRetain", 7000, cuDevicePrimaryCtxRetain),
    ROLLCALL_PROC("cuDevicePrimaryCtxRelease", 7000, cuDevicePrimaryCtxRelease),
    ROLLCALL_PROC("cuDevicePrimaryCtxRelease", 11000, cuDevicePrimaryCtxRelease_v2),
    ROLLCALL_PROC("cuDevicePrimaryCtxReset", 7000, cuDevicePrimaryCtxReset),
    ROLLCALL_PROC("cuDevicePrimaryCtxReset", 11000, cuDevicePrimaryCtxReset_v2),
    ROLLCALL_PROC("cuCtxCreate", 2000, cuCtxCreate),
    ROLLCALL_PROC("cuCtxCreate", 3020, cuCtxCreate_v2),
    ROLLCALL_PROC("cuCtxCreate", 11040, cuCtxCreate_v3),
    ROLLCALL_PROC("cuCtxCreate", 12050, cuCtxCreate_v4),
    ROLLCALL_PROC("cuCtxDestroy", 2000, cuCtxDestroy),
    ROLLCALL_PROC("cuCtxDestroy", 4000, cuCtxDestroy_v2),
    ROLLCALL_PROC("cuCtxSetCurrent", 4000, cuCtxSetCurrent),
    ROLLCALL_PROC("cuCtxGetCurrent", 4000, cuCtxGetCurrent),
    ROLLCALL_PROC("cuCtxGetDevice", 2000, cuCtxGetDevice),
    ROLLCALL_PROC("cuCtxPushCurrent", 2000, cuCtxPushCurrent),
    ROLLCALL_PROC("cuCtxPushCurrent", 4000, cuCtxPushCurrent_v2),
    ROLLCALL_PROC("cuCtxPopCurrent", 2000, cuCtxPopCurrent),
    ROLLCALL_PROC("cuCtxPopCurrent", 4000, cuCtxPopCurrent_v2),
    ROLLCALL_PROC("cuMemAlloc", 2000, cuMemAlloc),
    ROLLCALL_PROC("cuMemAlloc", 3020, cuMemAlloc_v2),
    ROLLCALL_PROC("cuMemFree", 2000, cuMemFree),
    ROLLCALL_PROC("cuMemFree", 3020, cuMemFree_v2),
    ROLLCALL_PROC("cuMemGetInfo", 2000, cuMemGetInfo),
    ROLLCALL_PROC("cuMemGetInfo", 3020, cuMemGetInfo_v2),
    ROLLCALL_PROC("cuLaunchKernel", 4000, cuLaunchKernel),
    ROLLCALL_PROC("cuGetProcAddress", 11030, cuGetProcAddress),
    ROLLCALL_PROC("cuGetProcAddress", 12000, cuGetProcAddress_v2),
};

#undef ROLLCALL_PROC

ProcLookup look_up(const char* symbol, int cuda_version) {
  return find_proc(kTable, sizeof kTable / sizeof kTable[0], symbol, cuda_version);
}

bool valid(const char* symbol, void** function) {
  return symbol != nullptr && *symbol != '\0' && function != nullptr;
}

}  // namespace

// The first form has no other way to say "none" than its result; the second
// succeeds with a null pointer and says why, as both are documented.
ROLLCALL_API gpu::CuResult cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                            uint64_t /*flags*/) {
  if (!valid(symbol, function)) return gpu::kCudaInvalidValue;
  *function = look_up(symbol, cuda_version).function;
  return *function != nullptr ? gpu::kCudaSuccess : gpu::kCudaNotFound;
}

ROLLCALL_API gpu::CuResult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                               uint64_t /*flags*/, int* query_result) {
  if (!valid(symbol, function)) return gpu::kCudaInvalidValue;
  const ProcLookup found = look_up(symbol, cuda_version);
  *function = found.function;
  if (query_result != nullptr) *query_result = found.query_result;
  return gpu::kCudaSuccess;
}
