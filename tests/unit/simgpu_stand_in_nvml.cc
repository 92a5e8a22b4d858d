// The stand-in libraries, second part: NVML's lists, threads and forks.
#include <atomic>
#include <cstring>
#include <thread>

#include "simgpu_support.h"

namespace rollcall::simgpu::test {
namespace {

constexpr uint64_t kMib = 1 << 20;

TEST(StandIn, ListsComeInTheStrideOfEachVersion) {
  on_node(profile_text(), [](const Driver& driver) {
    gpu::NvmlDevice device = nullptr;
    ASSERT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
    unsigned count = 0;
    EXPECT_EQ(driver.nvmlDeviceGetComputeRunningProcesses(device, &count, nullptr), gpu::kNvmlSuccess);
    EXPECT_EQ(count, 0U);
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    const auto call = [&](auto function, size_t stride) {
      unsigned needed = 0;
      EXPECT_EQ(function(device, &needed, nullptr), gpu::kNvmlInsufficientSize);
      EXPECT_EQ(needed, 1U);
      std::vector<unsigned char> buffer(4 * 24, 0xa5);
      unsigned rows = 4;
      EXPECT_EQ(function(device, &rows, buffer.data()), gpu::kNvmlSuccess);
      EXPECT_EQ(rows, 1U);
      for (size_t i = stride; i < buffer.size(); ++i) EXPECT_EQ(buffer[i], 0xa5) << i;
      gpu::NvmlProcessInfoV1 entry;
      memcpy(&entry, buffer.data(), sizeof entry);
      EXPECT_EQ(entry.pid, static_cast<unsigned>(getpid()));
      EXPECT_EQ(entry.used_gpu_memory, 518 * kMib);
      if (stride == sizeof(gpu::NvmlProcessInfoV2)) {
        for (size_t i = 16; i < 24; ++i) EXPECT_EQ(buffer[i], 0xff);  // no instance ids
      }
      EXPECT_EQ(function(device, nullptr, buffer.data()), gpu::kNvmlInvalidArgument);
      EXPECT_EQ(function(nullptr, &rows, buffer.data()), gpu::kNvmlInvalidArgument);
    };
    call(driver.nvmlDeviceGetComputeRunningProcesses, 16);
    call(driver.nvmlDeviceGetComputeRunningProcesses_v2, 24);
    call(driver.nvmlDeviceGetComputeRunningProcesses_v3, 24);
  });
}

TEST(StandIn, TellsWhatANodeCheckAsks) {
  const Node node(profile_text("", 1100, 2));
  in_child([] {
    const Driver driver;
    gpu::NvmlDevice device = nullptr;
    int version = 0;
    EXPECT_EQ(driver.nvmlSystemGetCudaDriverVersion(&version), gpu::kNvmlUninitialized);
    ASSERT_EQ(driver.nvmlInitWithFlags(0), gpu::kNvmlSuccess);
    ASSERT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(1, &device), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlSystemGetCudaDriverVersion(&version), gpu::kNvmlSuccess);
    EXPECT_EQ(version, 12040);
    EXPECT_EQ(driver.nvmlSystemGetCudaDriverVersion_v2(nullptr), gpu::kNvmlInvalidArgument);
    unsigned index = 0;
    EXPECT_EQ(driver.nvmlDeviceGetIndex(device, &index), gpu::kNvmlSuccess);
    EXPECT_EQ(index, 1U);
    EXPECT_EQ(driver.nvmlDeviceGetIndex(nullptr, &index), gpu::kNvmlInvalidArgument);
    char name[64] = {};
    EXPECT_EQ(driver.nvmlDeviceGetName(device, name, 8), gpu::kNvmlInsufficientSize);
    EXPECT_EQ(driver.nvmlDeviceGetName(device, name, 9), gpu::kNvmlSuccess);
    EXPECT_STREQ(name, "Test GPU");
    int mode = -1;
    EXPECT_EQ(driver.nvmlDeviceGetPersistenceMode(device, &mode), gpu::kNvmlSuccess);
    EXPECT_EQ(mode, gpu::kNvmlFeatureEnabled);
    EXPECT_EQ(driver.nvmlDeviceGetComputeMode(device, &mode), gpu::kNvmlSuccess);
    EXPECT_EQ(mode, gpu::kNvmlComputeModeDefault);
    unsigned current = 9;
    unsigned pending = 9;
    EXPECT_EQ(driver.nvmlDeviceGetMigMode(device, &current, &pending), gpu::kNvmlSuccess);
    EXPECT_EQ(current, 0U);
    EXPECT_EQ(pending, 0U);
    gpu::NvmlMemoryV2 memory{};
    EXPECT_EQ(driver.nvmlDeviceGetMemoryInfo_v2(device, &memory), gpu::kNvmlArgumentVersionMismatch);
    memory.version = gpu::kNvmlMemoryV2Version;
    EXPECT_EQ(driver.nvmlDeviceGetMemoryInfo_v2(device, &memory), gpu::kNvmlSuccess);
    EXPECT_EQ(memory.total, 1100 * kMib);
    EXPECT_EQ(memory.free, 1100 * kMib);
    EXPECT_EQ(memory.used + memory.reserved, 0U);
  });
}

TEST(StandIn, UtilisationHasASampleForEachListedProcess) {
  on_node(profile_text(), [](const Driver& driver) {
    gpu::NvmlDevice device = nullptr;
    ASSERT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
    gpu::NvmlProcessUtilization sample{};
    unsigned count = 1;
    EXPECT_EQ(driver.nvmlDeviceGetProcessUtilization(device, &sample, &count, 0), gpu::kNvmlNotFound);
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    count = 99;
    EXPECT_EQ(driver.nvmlDeviceGetProcessUtilization(device, nullptr, &count, 0), gpu::kNvmlInsufficientSize);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(driver.nvmlDeviceGetProcessUtilization(device, &sample, &count, 0), gpu::kNvmlSuccess);
    EXPECT_EQ(sample.pid, static_cast<unsigned>(getpid()));
    EXPECT_GT(sample.time_stamp, 0U);
    EXPECT_EQ(sample.sm, 0U);
    count = 1;
    EXPECT_EQ(driver.nvmlDeviceGetProcessUtilization(device, &sample, &count, UINT64_MAX),
              gpu::kNvmlNotFound);
  });
}

TEST(StandIn, NamesProcessesThatTheCallerCanSee) {
  on_node(profile_text(), [](const Driver& driver) {
    char name[64] = {};
    EXPECT_EQ(driver.nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), name, 64), gpu::kNvmlSuccess);
    EXPECT_EQ(std::string(name).substr(0, 6), "test_s");
    EXPECT_EQ(driver.nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), name, 4), gpu::kNvmlSuccess);
    EXPECT_STREQ(name, "tes");
    EXPECT_EQ(driver.nvmlSystemGetProcessName(0x7fffffff, name, 64), gpu::kNvmlNotFound);
    EXPECT_EQ(driver.nvmlSystemGetProcessName(1, name, 0), gpu::kNvmlInvalidArgument);
  });
}

TEST(StandIn, NvmlCountsItsInitialisations) {
  on_node(profile_text(), [](const Driver& driver) {
    unsigned count = 0;
    EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlShutdown(), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlShutdown(), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlUninitialized);
    EXPECT_EQ(driver.nvmlShutdown(), gpu::kNvmlUninitialized);
    EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlSuccess);
  });
}

TEST(StandIn, ABlockedCallOfOneThreadDoesNotDisturbAnother) {
  const Node node(profile_text("[cost.cuinit]\nserial_ms = 2000\n"));
  in_child([] {
    const Driver driver;
    std::atomic<bool> done{false};
    std::thread first([&] {
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
      done = true;
    });
    usleep(50'000);
    int count = 0;
    EXPECT_EQ(driver.cuDeviceGetCount(&count), gpu::kCudaNotInitialized);
    EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.pids(), Pids());
    EXPECT_FALSE(done);
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    first.join();
  });
}

// The other thread's lock is copied held, and in the child nobody will open it.
TEST(StandIn, AChildForkedInTheMiddleOfAnotherThreadsCallIsNotStuck) {
  const Node node(profile_text("[cost.nvml_init]\nparallel_ms = 300\n"));
  in_child([] {
    const Driver driver;
    std::thread blocked([&] { EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess); });
    usleep(100'000);
    in_child([&] {
      alarm(10);
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
      EXPECT_EQ(driver.pids(), Pids());
    });
    blocked.join();
    EXPECT_EQ(driver.pids(), Pids());
  });
}

TEST(StandIn, ManyThreadsShareOneConnection) {
  on_node(profile_text(), [](const Driver& driver) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&driver] {
        gpu::CuContext context = nullptr;
        EXPECT_EQ(driver.cuCtxCreate_v2(&context, 0, 0), gpu::kCudaSuccess);
        for (int round = 0; round < 50; ++round) {
          gpu::CuDevicePtr pointer = 0;
          EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 1), gpu::kCudaSuccess);
          EXPECT_EQ(driver.pids().size(), 1U);
          EXPECT_EQ(driver.cuMemFree_v2(pointer), gpu::kCudaSuccess);
        }
        EXPECT_EQ(driver.cuCtxDestroy_v2(context), gpu::kCudaSuccess);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(driver.pids(), Pids());
  });
}

TEST(StandIn, AForkedChildInheritsNoDriverAndInitialisesNvmlAnew) {
  on_node(profile_text(), [](const Driver& driver) {
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuCtxCreate_v2(&context, 0, 0), gpu::kCudaSuccess);
    const auto parent = static_cast<unsigned>(getpid());
    in_child([&] {
      int number = 0;
      unsigned count = 0;
      gpu::CuDevicePtr pointer = 0;
      EXPECT_EQ(driver.cuDeviceGetCount(&number), gpu::kCudaNotInitialized);
      EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 1), gpu::kCudaNotInitialized);
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaNotInitialized);
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaNotInitialized);
      EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlUninitialized);
      EXPECT_EQ(driver.nvmlShutdown(), gpu::kNvmlUninitialized);
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
      EXPECT_EQ(driver.pids(), Pids{parent});
    });
    EXPECT_EQ(driver.pids(), Pids{parent});  // and the parent's connections still work
    EXPECT_EQ(driver.cuCtxDestroy_v2(context), gpu::kCudaSuccess);
  });
}

TEST(StandIn, AForkedChildMayInitialiseWhatItsParentOnlyLoaded) {
  const Node node;
  in_child([] {
    const Driver driver;
    int version = 0;
    EXPECT_EQ(driver.cuDriverGetVersion(&version), gpu::kCudaSuccess);  // has connected, is not initialised
    in_child([&] {
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
      gpu::CuContext context = nullptr;
      EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
      EXPECT_EQ(driver.pids(), Pids{static_cast<unsigned>(getpid())});
    });
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
  });
}

}  // namespace
}  // namespace rollcall::simgpu::test
