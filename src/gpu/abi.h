// The part of the CUDA driver's and NVML's binary interface that this project
// uses, declared by ourselves so that no CUDA toolkit is needed to build. The
// values are those of the public documentation of both libraries; sizes that
// matter are asserted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rollcall::gpu {

// --- CUDA driver -----------------------------------------------------------

using CuResult = int;
inline constexpr CuResult kCudaSuccess = 0;
inline constexpr CuResult kCudaInvalidValue = 1;
inline constexpr CuResult kCudaOutOfMemory = 2;
inline constexpr CuResult kCudaNotInitialized = 3;
inline constexpr CuResult kCudaDeinitialized = 4;
inline constexpr CuResult kCudaNoDevice = 100;
inline constexpr CuResult kCudaInvalidDevice = 101;
inline constexpr CuResult kCudaInvalidContext = 201;
inline constexpr CuResult kCudaNotFound = 500;
inline constexpr CuResult kCudaSystemNotReady = 802;
inline constexpr CuResult kCudaUnknown = 999;

using CuDevice = int;
using CuDevicePtr = unsigned long long;  // 64 bits on every platform with a 64-bit driver
struct CuContextOpaque;
using CuContext = CuContextOpaque*;
struct CuFunctionOpaque;
using CuFunction = CuFunctionOpaque*;
struct CuStreamOpaque;
using CuStream = CuStreamOpaque*;
struct CuUuid {
  unsigned char bytes[16];
};

// CUdevice_attribute values.
inline constexpr int kCudaAttributeMultiprocessorCount = 16;
inline constexpr int kCudaAttributeMaxThreadsPerMultiprocessor = 39;
inline constexpr int kCudaAttributeMpsEnabled = 133;  // contexts on the device are shared through MPS

// CUdriverProcAddressQueryResult values.
inline constexpr int kCudaProcAddressFound = 0;
inline constexpr int kCudaProcAddressSymbolNotFound = 1;
inline constexpr int kCudaProcAddressVersionNotSufficient = 2;

using CuInitFn = CuResult (*)(unsigned flags);
using CuDriverGetVersionFn = CuResult (*)(int* version);  // 13000 for 13.0
using CuGetErrorNameFn = CuResult (*)(CuResult result, const char** name);
using CuDeviceGetCountFn = CuResult (*)(int* count);
using CuDeviceGetFn = CuResult (*)(CuDevice* device, int ordinal);
using CuDeviceGetUuidFn = CuResult (*)(CuUuid* uuid, CuDevice device);
using CuCtxCreateFn = CuResult (*)(CuContext* context, unsigned flags, CuDevice device);
using CuCtxDestroyFn = CuResult (*)(CuContext context);
using CuCtxSetCurrentFn = CuResult (*)(CuContext context);
using CuMemAllocFn = CuResult (*)(CuDevicePtr* memory, size_t size_bytes);
using CuMemFreeFn = CuResult (*)(CuDevicePtr memory);
using CuDevicePrimaryCtxRetainFn = CuResult (*)(CuContext* context, CuDevice device);
using CuDevicePrimaryCtxReleaseFn = CuResult (*)(CuDevice device);
using CuGetProcAddressFn = CuResult (*)(const char* symbol, void** function, int cuda_version,
                                        uint64_t flags);
using CuGetProcAddressV2Fn = CuResult (*)(const char* symbol, void** function, int cuda_version,
                                          uint64_t flags, int* query_result);

// --- NVML --------------------------------------------------------------------

using NvmlReturn = int;
inline constexpr NvmlReturn kNvmlSuccess = 0;
inline constexpr NvmlReturn kNvmlUninitialized = 1;
inline constexpr NvmlReturn kNvmlInvalidArgument = 2;
inline constexpr NvmlReturn kNvmlNotSupported = 3;
inline constexpr NvmlReturn kNvmlNoPermission = 4;
inline constexpr NvmlReturn kNvmlNotFound = 6;
inline constexpr NvmlReturn kNvmlInsufficientSize = 7;
inline constexpr NvmlReturn kNvmlDriverNotLoaded = 9;
inline constexpr NvmlReturn kNvmlArgumentVersionMismatch = 25;
inline constexpr NvmlReturn kNvmlUnknown = 999;

// Sizes that NVML documents for its texts, the ending zero included.
inline constexpr unsigned kNvmlUuidTextBytes = 96;     // NVML_DEVICE_UUID_V2_BUFFER_SIZE
inline constexpr unsigned kNvmlNameTextBytes = 96;     // NVML_DEVICE_NAME_V2_BUFFER_SIZE
inline constexpr unsigned kNvmlVersionTextBytes = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
// What a process entry's memory says where the driver does not tell it (NVML_VALUE_NOT_AVAILABLE).
inline constexpr unsigned long long kNvmlValueNotAvailable = ~0ULL;

struct NvmlDeviceOpaque;
using NvmlDevice = NvmlDeviceOpaque*;

// nvmlEnableState_t and the default of nvmlComputeMode_t.
inline constexpr int kNvmlFeatureDisabled = 0;
inline constexpr int kNvmlFeatureEnabled = 1;
inline constexpr int kNvmlComputeModeDefault = 0;
inline constexpr unsigned kNvmlMigDisabled = 0;

// What usedGpuMemory holds where the driver does not know it for one process.
inline constexpr unsigned long long kNvmlMemoryNotAvailable = ~0ULL;

// Entry of nvmlDeviceGetComputeRunningProcesses (version 1).
struct NvmlProcessInfoV1 {
  unsigned pid;
  unsigned long long used_gpu_memory;  // bytes
};
static_assert(sizeof(NvmlProcessInfoV1) == 16);

// Entry of the _v2 and _v3 calls.
struct NvmlProcessInfoV2 {
  unsigned pid;
  unsigned long long used_gpu_memory;  // bytes
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};
static_assert(sizeof(NvmlProcessInfoV2) == 24);

struct NvmlMemory {
  unsigned long long total, free, used;  // bytes
};

// For nvmlDeviceGetMemoryInfo_v2; the caller writes `version` first.
struct NvmlMemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;  // bytes
};
static_assert(sizeof(NvmlMemoryV2) == 40);
inline constexpr unsigned kNvmlMemoryV2Version = static_cast<unsigned>(sizeof(NvmlMemoryV2)) | 2U << 24;

struct NvmlProcessUtilization {
  unsigned pid;
  unsigned long long time_stamp;  // microseconds
  unsigned sm, mem, enc, dec;     // percent
};
static_assert(sizeof(NvmlProcessUtilization) == 32);

// The driver returns at most this many PIDs for one device (facts measured on
// driver 580; larger counts are cut off by NVML itself).
inline constexpr unsigned kNvmlMaxProcesses = 950;

using NvmlInitFn = NvmlReturn (*)();
using NvmlShutdownFn = NvmlReturn (*)();
using NvmlErrorStringFn = const char* (*)(NvmlReturn result);
using NvmlSystemGetDriverVersionFn = NvmlReturn (*)(char* version, unsigned length);
using NvmlSystemGetProcessNameFn = NvmlReturn (*)(unsigned pid, char* name, unsigned length);
using NvmlDeviceGetCountFn = NvmlReturn (*)(unsigned* count);
using NvmlDeviceGetTextFn = NvmlReturn (*)(NvmlDevice device, char* text, unsigned length);  // UUID, name
using NvmlDeviceGetMemoryInfoFn = NvmlReturn (*)(NvmlDevice device, NvmlMemory* memory);
using NvmlDeviceGetModeFn = NvmlReturn (*)(NvmlDevice device, int* mode);  // persistence, compute
using NvmlDeviceGetMigModeFn = NvmlReturn (*)(NvmlDevice device, unsigned* current, unsigned* pending);
using NvmlDeviceGetHandleByIndexFn = NvmlReturn (*)(unsigned index, NvmlDevice* device);
using NvmlDeviceGetComputeRunningProcessesFn = NvmlReturn (*)(NvmlDevice device, unsigned* count,
                                                              void* entries);

}  // namespace rollcall::gpu
