// The stand-in libraries as one program meets them: what each function gives,
// before cuInit, after it, and when it is used wrongly.
#include <cstring>
#include <thread>

#include "simgpu_support.h"

namespace rollcall::simgpu::test {
namespace {

constexpr uint64_t kMib = 1 << 20;

TEST(StandIn, NothingWorksBeforeInitialisationButTheVersionAndTheLookUp) {
  const Node node;
  in_child([] {
    const Driver driver;
    int number = 0;
    size_t size = 0;
    gpu::CuDevice device = 0;
    gpu::CuContext context = nullptr;
    gpu::CuDevicePtr pointer = 0;
    gpu::CuUuid uuid;
    char text[8];
    for (const gpu::CuResult result :
         {driver.cuDeviceGetCount(&number), driver.cuDeviceGet(&device, 0), driver.cuDeviceGetUuid(&uuid, 0),
          driver.cuDeviceGetName(text, 8, 0), driver.cuDeviceTotalMem_v2(&size, 0),
          driver.cuDeviceGetAttribute(&number, 16, 0), driver.cuDevicePrimaryCtxRetain(&context, 0),
          driver.cuDevicePrimaryCtxRelease_v2(0), driver.cuDevicePrimaryCtxReset_v2(0),
          driver.cuCtxCreate_v2(&context, 0, 0), driver.cuCtxDestroy_v2(nullptr),
          driver.cuCtxSetCurrent(nullptr), driver.cuCtxGetCurrent(&context),
          driver.cuCtxPushCurrent_v2(nullptr), driver.cuCtxPopCurrent_v2(&context),
          driver.cuMemAlloc_v2(&pointer, 1), driver.cuMemFree_v2(0), driver.cuMemGetInfo_v2(&size, &size),
          driver.cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)}) {
      EXPECT_EQ(result, gpu::kCudaNotInitialized);
    }
    unsigned count = 0;
    gpu::NvmlDevice nvml_device = nullptr;
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlUninitialized);
    EXPECT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &nvml_device), gpu::kNvmlUninitialized);
    EXPECT_EQ(driver.nvmlDeviceGetComputeRunningProcesses(nullptr, &count, nullptr), gpu::kNvmlUninitialized);
    EXPECT_EQ(driver.nvmlShutdown(), gpu::kNvmlUninitialized);

    EXPECT_EQ(driver.cuDriverGetVersion(&number), gpu::kCudaSuccess);
    EXPECT_EQ(number, 12040);
    EXPECT_EQ(driver.cuDriverGetVersion(nullptr), gpu::kCudaInvalidValue);
    void* function = nullptr;
    EXPECT_EQ(driver.cuGetProcAddress("cuInit", &function, 12000, 0), gpu::kCudaSuccess);
  });
}

TEST(StandIn, WithoutANodeThereIsNoDevice) {
  in_child([] {
    const Driver driver;
    int version = 0;
    unsetenv("ROLLCALL_SIM_SOCKET");
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaNoDevice);
    EXPECT_EQ(driver.cuDriverGetVersion(&version), gpu::kCudaNoDevice);
    EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlDriverNotLoaded);
    for (const char* path : {"", "/nowhere/node.sock", "/tmp", std::string(500, 'x').c_str()}) {
      setenv("ROLLCALL_SIM_SOCKET", path, 1);
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaNoDevice) << path;
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlDriverNotLoaded) << path;
    }
  });
}

TEST(StandIn, CuInitMayBeRepeatedAndFailFirst) {
  const Node node;
  in_child([] {
    const Driver driver;
    EXPECT_EQ(driver.cuInit(1), gpu::kCudaInvalidValue);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaNoDevice);
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
  });
}

TEST(StandIn, DescribesItsDevices) {
  on_node(profile_text("", 1000, 2), [](const Driver& driver) {
    int count = 0;
    EXPECT_EQ(driver.cuDeviceGetCount(&count), gpu::kCudaSuccess);
    EXPECT_EQ(count, 2);
    gpu::CuDevice device = -1;
    EXPECT_EQ(driver.cuDeviceGet(&device, 1), gpu::kCudaSuccess);
    EXPECT_EQ(device, 1);
    EXPECT_EQ(driver.cuDeviceGet(&device, 2), gpu::kCudaInvalidDevice);
    EXPECT_EQ(driver.cuDeviceGet(&device, -1), gpu::kCudaInvalidDevice);
    EXPECT_EQ(driver.cuDeviceGet(nullptr, 0), gpu::kCudaInvalidValue);
    char name[9];
    EXPECT_EQ(driver.cuDeviceGetName(name, sizeof name, 0), gpu::kCudaSuccess);
    EXPECT_STREQ(name, "Test GPU");
    EXPECT_EQ(driver.cuDeviceGetName(name, 5, 0), gpu::kCudaSuccess);
    EXPECT_STREQ(name, "Test");
    size_t bytes = 0;
    EXPECT_EQ(driver.cuDeviceTotalMem_v2(&bytes, 0), gpu::kCudaSuccess);
    EXPECT_EQ(bytes, 1000 * kMib);
    int value = 0;
    EXPECT_EQ(driver.cuDeviceGetAttribute(&value, 16, 0), gpu::kCudaSuccess);
    EXPECT_EQ(value, 4);
    EXPECT_EQ(driver.cuDeviceGetAttribute(&value, 39, 0), gpu::kCudaSuccess);
    EXPECT_EQ(value, 1024);
    EXPECT_EQ(driver.cuDeviceGetAttribute(&value, 9999, 0), gpu::kCudaInvalidValue);
    char version[6];
    EXPECT_EQ(driver.nvmlSystemGetDriverVersion(version, 6), gpu::kNvmlSuccess);
    EXPECT_STREQ(version, "1.2.3");
    EXPECT_EQ(driver.nvmlSystemGetDriverVersion(version, 5), gpu::kNvmlInsufficientSize);
    unsigned gpus = 0;
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&gpus), gpu::kNvmlSuccess);
    EXPECT_EQ(gpus, 2U);
    gpu::NvmlDevice handle = nullptr;
    EXPECT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(2, &handle), gpu::kNvmlInvalidArgument);
    char uuid[64];
    EXPECT_EQ(driver.nvmlDeviceGetUUID(reinterpret_cast<gpu::NvmlDevice>(&gpus), uuid, 64),
              gpu::kNvmlInvalidArgument);
  });
}

std::string nvml_uuid(const Driver& driver, unsigned index) {
  gpu::NvmlDevice device = nullptr;
  char text[41] = {};
  EXPECT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(index, &device), gpu::kNvmlSuccess);
  EXPECT_EQ(driver.nvmlDeviceGetUUID(device, text, 40), gpu::kNvmlInsufficientSize);
  EXPECT_EQ(driver.nvmlDeviceGetUUID(device, text, 41), gpu::kNvmlSuccess);
  gpu::NvmlDevice found = nullptr;
  EXPECT_EQ(driver.nvmlDeviceGetHandleByUUID(text, &found), gpu::kNvmlSuccess);
  EXPECT_EQ(found, device);
  EXPECT_EQ(driver.nvmlDeviceGetHandleByUUID("GPU-none", &found), gpu::kNvmlNotFound);
  return text;
}

std::string cuda_uuid(const Driver& driver, gpu::CuDevice device) {
  gpu::CuUuid uuid{};
  EXPECT_EQ(driver.cuDeviceGetUuid(&uuid, device), gpu::kCudaSuccess);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    snprintf(hex, sizeof hex, "%02x", uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex;
  }
  return text;
}

TEST(StandIn, OrdinalsFollowCudaVisibleDevicesAndNvmlIndicesDoNot) {
  const Node node(profile_text("", 1000, 3));
  in_child([] {
    setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
    const Driver driver;
    ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    int count = 0;
    EXPECT_EQ(driver.cuDeviceGetCount(&count), gpu::kCudaSuccess);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(cuda_uuid(driver, 0), nvml_uuid(driver, 2));
    EXPECT_EQ(cuda_uuid(driver, 1), nvml_uuid(driver, 0));
    // The context of CUDA's first device stands in the list of NVML's third.
    gpu::CuContext context = nullptr;
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(0), Pids());
    EXPECT_EQ(driver.pids(2), Pids{static_cast<unsigned>(getpid())});
  });
}

TEST(StandIn, CudaVisibleDevicesTakesUuidsToo) {
  const Node node(profile_text("", 1000, 2));
  in_child([] {
    const Driver driver;
    ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    const std::string second = nvml_uuid(driver, 1);
    const std::string first = nvml_uuid(driver, 0);
    setenv("CUDA_VISIBLE_DEVICES", (second + "," + first).c_str(), 1);
    ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    EXPECT_EQ(cuda_uuid(driver, 0), second);
    EXPECT_EQ(cuda_uuid(driver, 1), first);
    gpu::CuContext context = nullptr;
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(0), Pids());
    EXPECT_EQ(driver.pids(1), Pids{static_cast<unsigned>(getpid())});
  });
}

TEST(StandIn, ACurrentContextKnowsItsDevice) {
  const Node node(profile_text("", 1'000'000, 2));
  in_child([] {
    const Driver driver;
    gpu::CuDevice device = -1;
    EXPECT_EQ(driver.cuCtxGetDevice(&device), gpu::kCudaNotInitialized);
    ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxGetDevice(&device), gpu::kCudaInvalidContext);
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuCtxCreate_v2(&context, 0, 1), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxGetDevice(nullptr), gpu::kCudaInvalidValue);
    EXPECT_EQ(driver.cuCtxGetDevice(&device), gpu::kCudaSuccess);
    EXPECT_EQ(device, 1);
  });
}

TEST(StandIn, IsListedFromItsFirstContextToItsLastRelease) {
  on_node(profile_text(), [](const Driver& driver) {
    const Pids self = {static_cast<unsigned>(getpid())};
    EXPECT_EQ(driver.pids(), Pids());
    gpu::CuContext first = nullptr;
    gpu::CuContext nested = nullptr;
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&first, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&nested, 0), gpu::kCudaSuccess);
    EXPECT_EQ(first, nested);
    ASSERT_EQ(driver.pids(), self);
    EXPECT_EQ(driver.list()[0].used_gpu_memory, 518 * kMib);  // nested is the same context
    EXPECT_EQ(driver.cuDevicePrimaryCtxRelease_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(), self);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRelease_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(), Pids());
    EXPECT_EQ(driver.cuDevicePrimaryCtxRelease_v2(0), gpu::kCudaInvalidContext);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&first, 1), gpu::kCudaInvalidDevice);
  });
}

TEST(StandIn, ANestedRetainDoesNotReachTheNode) {
  on_node(profile_text("[cost.context_create]\nserial_ms = 600\n"), [](const Driver& driver) {
    gpu::CuContext context = nullptr;
    const int64_t start_ns = base::monotonic_ns();
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    const int64_t cold_ns = base::monotonic_ns();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_GE(cold_ns - start_ns, 600 * base::kNsPerMs);
    EXPECT_LT(base::monotonic_ns() - cold_ns, 30 * base::kNsPerSecond);  // else a minute
  });
}

TEST(StandIn, ResettingAPrimaryContextLeavesItsUsersCounted) {
  on_node(profile_text(), [](const Driver& driver) {
    gpu::CuContext context = nullptr;
    EXPECT_EQ(driver.cuDevicePrimaryCtxReset_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuDevicePrimaryCtxReset_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(), Pids());
    EXPECT_EQ(driver.cuCtxSetCurrent(context), gpu::kCudaInvalidContext);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids().size(), 1U);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRelease_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids().size(), 1U);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRelease_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(), Pids());
  });
}

TEST(StandIn, OnlyCreatedContextsAreCurrentByThemselves) {
  on_node(profile_text(), [](const Driver& driver) {
    gpu::CuContext primary = nullptr;
    gpu::CuContext created = nullptr;
    gpu::CuContext current = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&primary, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxGetCurrent(&current), gpu::kCudaSuccess);
    EXPECT_EQ(current, nullptr);
    ASSERT_EQ(driver.cuCtxCreate_v2(&created, 0, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxGetCurrent(&current), gpu::kCudaSuccess);
    EXPECT_EQ(current, created);
    EXPECT_EQ(driver.cuCtxPushCurrent_v2(primary), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxPopCurrent_v2(&current), gpu::kCudaSuccess);
    EXPECT_EQ(current, primary);
    // Currentness is a thread's own.
    std::thread([&] {
      gpu::CuContext other = created;
      EXPECT_EQ(driver.cuCtxGetCurrent(&other), gpu::kCudaSuccess);
      EXPECT_EQ(other, nullptr);
      EXPECT_EQ(driver.cuCtxPopCurrent_v2(&other), gpu::kCudaInvalidContext);
      EXPECT_EQ(driver.cuCtxSetCurrent(primary), gpu::kCudaSuccess);
    }).join();
    EXPECT_EQ(driver.cuCtxGetCurrent(&current), gpu::kCudaSuccess);
    EXPECT_EQ(current, created);
    EXPECT_EQ(driver.cuCtxDestroy_v2(primary), gpu::kCudaInvalidContext);
    EXPECT_EQ(driver.cuCtxDestroy_v2(created), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxGetCurrent(&current), gpu::kCudaSuccess);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(driver.cuCtxDestroy_v2(created), gpu::kCudaInvalidContext);
    EXPECT_EQ(driver.cuCtxPushCurrent_v2(created), gpu::kCudaInvalidContext);
    EXPECT_EQ(driver.cuCtxPushCurrent_v2(reinterpret_cast<gpu::CuContext>(&current)),
              gpu::kCudaInvalidContext);
    EXPECT_EQ(
        driver.cuCtxPushCurrent_v2(reinterpret_cast<gpu::CuContext>(reinterpret_cast<char*>(primary) + 1)),
        gpu::kCudaInvalidContext);
  });
}

TEST(StandIn, TheStackOfCurrentContextsHasABound) {
  on_node(profile_text(), [](const Driver& driver) {
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    int pushed = 0;
    while (pushed < 1000 && driver.cuCtxPushCurrent_v2(context) == gpu::kCudaSuccess) ++pushed;
    EXPECT_EQ(pushed, 32);
    EXPECT_EQ(driver.cuCtxSetCurrent(context), gpu::kCudaSuccess);  // replaces, needs no room
    EXPECT_EQ(driver.cuCtxCreate_v2(&context, 0, 0), gpu::kCudaInvalidValue);
    EXPECT_EQ(driver.list()[0].used_gpu_memory, 518 * kMib);
  });
}

TEST(StandIn, MemoryNeedsACurrentContextAndIsAccountedInSteps) {
  on_node(profile_text("", 1100), [](const Driver& driver) {
    gpu::CuContext context = nullptr;
    gpu::CuDevicePtr pointer = 0;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 1), gpu::kCudaInvalidContext);
    EXPECT_EQ(driver.cuMemGetInfo_v2(&free_bytes, &total_bytes), gpu::kCudaInvalidContext);
    ASSERT_EQ(driver.cuCtxSetCurrent(context), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 0), gpu::kCudaInvalidValue);
    // k steps of 2 MiB, seen at once and exactly.
    for (const uint64_t steps : {1, 3, 7, 16}) {
      ASSERT_EQ(driver.cuMemAlloc_v2(&pointer, steps * 2 * kMib), gpu::kCudaSuccess);
      EXPECT_EQ(driver.list()[0].used_gpu_memory, (518 + steps * 2) * kMib);
      EXPECT_EQ(driver.cuMemGetInfo_v2(&free_bytes, &total_bytes), gpu::kCudaSuccess);
      EXPECT_EQ(free_bytes, (1100 - 518 - steps * 2) * kMib);
      EXPECT_EQ(total_bytes, 1100 * kMib);
      EXPECT_EQ(driver.cuMemFree_v2(pointer + 1), gpu::kCudaInvalidValue);
      EXPECT_EQ(driver.cuMemFree_v2(pointer), gpu::kCudaSuccess);
      EXPECT_EQ(driver.cuMemFree_v2(pointer), gpu::kCudaInvalidValue);
      EXPECT_EQ(driver.list()[0].used_gpu_memory, 518 * kMib);
    }
    EXPECT_EQ(driver.cuMemFree_v2(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 583 * kMib), gpu::kCudaOutOfMemory);
    EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, SIZE_MAX), gpu::kCudaOutOfMemory);
    gpu::NvmlDevice device = nullptr;
    gpu::NvmlMemory memory{};
    EXPECT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlDeviceGetMemoryInfo(device, &memory), gpu::kNvmlSuccess);
    EXPECT_EQ(memory.total, 1100 * kMib);
    EXPECT_EQ(memory.used, 518 * kMib);
    EXPECT_EQ(memory.free, 582 * kMib);
    // Two contexts fit on this device, a third does not.
    gpu::CuContext second = nullptr;
    gpu::CuContext third = nullptr;
    EXPECT_EQ(driver.cuCtxCreate_v2(&second, 0, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuCtxCreate_v2(&third, 0, 0), gpu::kCudaOutOfMemory);
  });
}

TEST(StandIn, ALaunchNeedsAContextAndAFunction) {
  on_node(profile_text(), [](const Driver& driver) {
    const auto launch = [&](void* function) {
      return driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    };
    gpu::CuContext context = nullptr;
    EXPECT_EQ(launch(&context), gpu::kCudaInvalidContext);
    ASSERT_EQ(driver.cuCtxCreate_v2(&context, 0, 0), gpu::kCudaSuccess);
    EXPECT_EQ(launch(&context), gpu::kCudaSuccess);
    EXPECT_EQ(launch(nullptr), 400);
  });
}

TEST(StandIn, GetProcAddressGivesItsOwnFunctionsByVersion) {
  on_node(profile_text(), [](const Driver& driver) {
    void* function = nullptr;
    int status = -1;
    EXPECT_EQ(driver.cuGetProcAddress("cuInit", &function, 2000, 0), gpu::kCudaSuccess);
    EXPECT_EQ(function, reinterpret_cast<void*>(driver.cuInit));
    EXPECT_EQ(driver.cuGetProcAddress_v2("cuCtxCreate", &function, 11030, 0, &status), gpu::kCudaSuccess);
    EXPECT_EQ(function, reinterpret_cast<void*>(driver.cuCtxCreate_v2));
    EXPECT_EQ(status, gpu::kCudaProcAddressFound);
    // Itself too: the form with a query result is of CUDA 12.0.
    EXPECT_EQ(driver.cuGetProcAddress_v2("cuGetProcAddress", &function, 11030, 0, &status),
              gpu::kCudaSuccess);
    EXPECT_EQ(function, reinterpret_cast<void*>(driver.cuGetProcAddress));
    EXPECT_EQ(driver.cuGetProcAddress_v2("cuGetProcAddress", &function, 12000, 0, nullptr),
              gpu::kCudaSuccess);
    EXPECT_EQ(function, reinterpret_cast<void*>(driver.cuGetProcAddress_v2));

    EXPECT_EQ(driver.cuGetProcAddress("cuNothing", &function, 12000, 0), gpu::kCudaNotFound);
    EXPECT_EQ(function, nullptr);
    EXPECT_EQ(driver.cuGetProcAddress("cuGetProcAddress", &function, 11020, 0), gpu::kCudaNotFound);
    EXPECT_EQ(driver.cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status), gpu::kCudaSuccess);
    EXPECT_EQ(function, nullptr);
    EXPECT_EQ(status, gpu::kCudaProcAddressSymbolNotFound);
    EXPECT_EQ(driver.cuGetProcAddress_v2("cuDevicePrimaryCtxRetain", &function, 6050, 0, &status),
              gpu::kCudaSuccess);
    EXPECT_EQ(status, gpu::kCudaProcAddressVersionNotSufficient);
    EXPECT_EQ(driver.cuGetProcAddress(nullptr, &function, 12000, 0), gpu::kCudaInvalidValue);
    EXPECT_EQ(driver.cuGetProcAddress("cuInit", nullptr, 12000, 0), gpu::kCudaInvalidValue);
  });
}

TEST(StandIn, HasEveryFormOfEachName) {
  in_child([] {
    const Driver driver;
    for (const char* name : {"cuDeviceGetUuid", "cuDeviceTotalMem", "cuDevicePrimaryCtxRelease",
                             "cuDevicePrimaryCtxReset", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuCtxCreate",
                             "cuCtxDestroy", "cuMemAlloc", "cuMemFree", "cuMemGetInfo", "cuGetProcAddress"}) {
      EXPECT_NE(dlsym(driver.cuda, name), nullptr) << name;
      EXPECT_NE(dlsym(driver.cuda, (std::string(name) + "_v2").c_str()), nullptr) << name;
    }
    for (const char* name :
         {"nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex", "nvmlErrorString"}) {
      EXPECT_NE(dlsym(driver.nvml, name), nullptr) << name;
    }
  });
}

}  // namespace
}  // namespace rollcall::simgpu::test
