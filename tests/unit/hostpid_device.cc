// The device of a context, with a driver of the test's own: what refuses before the first
// round, what is put back, and that the right device is asked.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "hostpid/device.h"

namespace rollcall::hostpid {
namespace {

// The driver's functions are plain C, so that the one that a test uses is global.
struct FakeDriver {
  gpu::CuUuid uuid{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xab}};
  std::string known_uuid = "GPU-01020304-0506-0708-090a-0b0c0d0e0fab";
  std::vector<void*> stack;
  int mps_attribute = 0;
  gpu::CuResult attribute_result = gpu::kCudaSuccess;
  unsigned mps_clients = 0;
  gpu::NvmlReturn mps_result = gpu::kNvmlSuccess;
  unsigned mig = 0;
  gpu::NvmlReturn init_result = gpu::kNvmlSuccess;
  int nvml_users = 0;
  int capture_mode = 0;
  unsigned listed = 3;
  gpu::NvmlReturn list_result = gpu::kNvmlSuccess;
  unsigned long long own_memory = 518ULL << 20;
  gpu::CuResult push_result = gpu::kCudaSuccess;
};
FakeDriver* g_driver = nullptr;

gpu::CuResult push(gpu::CuContext context) {
  if (g_driver->push_result == gpu::kCudaSuccess) g_driver->stack.push_back(context);
  return g_driver->push_result;
}
gpu::CuResult pop(gpu::CuContext* context) {
  *context = static_cast<gpu::CuContext>(g_driver->stack.back());
  g_driver->stack.pop_back();
  return gpu::kCudaSuccess;
}
gpu::CuResult get_device(gpu::CuDevice* device) {
  *device = 3;
  return g_driver->stack.empty() ? gpu::kCudaInvalidContext : gpu::kCudaSuccess;
}
gpu::CuResult get_uuid(gpu::CuUuid* uuid, gpu::CuDevice device) {
  *uuid = g_driver->uuid;
  return device == 3 ? gpu::kCudaSuccess : gpu::kCudaInvalidDevice;
}
gpu::CuResult get_attribute(int* value, int attribute, gpu::CuDevice) {
  *value = g_driver->mps_attribute;
  return attribute == gpu::kCudaAttributeMpsEnabled ? g_driver->attribute_result : gpu::kCudaInvalidValue;
}
gpu::CuResult allocate(gpu::CuDevicePtr* pointer, size_t bytes) {
  *pointer = 0x1000;
  return bytes > (1ULL << 40) ? gpu::kCudaOutOfMemory : gpu::kCudaSuccess;
}
gpu::CuResult release(gpu::CuDevicePtr pointer) {
  return pointer == 0x1000 ? gpu::kCudaSuccess : gpu::kCudaInvalidValue;
}
gpu::CuResult memory_info(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = 12345;
  *total_bytes = 99999;
  return gpu::kCudaSuccess;
}
gpu::CuResult capture_mode(int* mode) {
  std::swap(*mode, g_driver->capture_mode);
  return gpu::kCudaSuccess;
}
gpu::NvmlReturn nvml_init() {
  g_driver->nvml_users += g_driver->init_result == gpu::kNvmlSuccess;
  return g_driver->init_result;
}
gpu::NvmlReturn nvml_shutdown() {
  ADD_FAILURE() << "NVML stays started";
  return gpu::kNvmlSuccess;
}
gpu::NvmlReturn by_uuid(const char* uuid, gpu::NvmlDevice* device) {
  *device = reinterpret_cast<gpu::NvmlDevice>(static_cast<uintptr_t>(0x77));
  return uuid == g_driver->known_uuid ? gpu::kNvmlSuccess : gpu::kNvmlNotFound;
}
template <typename Entry>
gpu::NvmlReturn list(gpu::NvmlDevice device, unsigned* count, void* entries) {
  EXPECT_EQ(device, reinterpret_cast<gpu::NvmlDevice>(static_cast<uintptr_t>(0x77)));
  if (g_driver->list_result != gpu::kNvmlSuccess) return g_driver->list_result;
  EXPECT_GE(*count, g_driver->listed);
  *count = g_driver->listed;
  for (unsigned i = 0; i < g_driver->listed; ++i) {
    auto& entry = static_cast<Entry*>(entries)[i];
    entry.pid = 100 + i;
    entry.used_gpu_memory = i == 0 ? g_driver->own_memory : i;
  }
  return gpu::kNvmlSuccess;
}
gpu::NvmlReturn mps_list(gpu::NvmlDevice, unsigned* count, void*) {
  *count = g_driver->mps_clients;
  return g_driver->mps_result;
}
gpu::NvmlReturn mig_mode(gpu::NvmlDevice, unsigned* current, unsigned* pending) {
  *current = *pending = g_driver->mig;
  return gpu::kNvmlSuccess;
}

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    g_driver = &driver_;
    const auto add = [this](const char* name, auto* function) {
      functions_[name] = reinterpret_cast<void*>(function);
    };
    add("cuCtxPushCurrent_v2", push);
    add("cuCtxPopCurrent_v2", pop);
    add("cuCtxGetDevice", get_device);
    add("cuDeviceGetUuid_v2", get_uuid);
    add("cuDeviceGetAttribute", get_attribute);
    add("cuMemAlloc_v2", allocate);
    add("cuMemFree_v2", release);
    add("cuMemGetInfo_v2", memory_info);
    add("cuThreadExchangeStreamCaptureMode", capture_mode);
    add("nvmlInit_v2", nvml_init);
    add("nvmlShutdown", nvml_shutdown);
    add("nvmlDeviceGetHandleByUUID", by_uuid);
    add("nvmlDeviceGetComputeRunningProcesses", list<gpu::NvmlProcessInfoV1>);
    add("nvmlDeviceGetComputeRunningProcesses_v2", list<gpu::NvmlProcessInfoV2>);
    add("nvmlDeviceGetMPSComputeRunningProcesses_v3", mps_list);
    add("nvmlDeviceGetMigMode", mig_mode);
  }

  // Prepares, lets `inside` look, restores, and checks that all is as it was.
  template <typename Inside>
  Reason with_device(Inside inside) {
    driver_.stack = {kOther};
    const int nvml_users = driver_.nvml_users;
    driver_.capture_mode = 1;
    Device device(kContext, {look_up, this});
    const ChallengeSite site = device.site();
    ChallengeDriver challenge_driver;
    ChallengeMemory* memory = nullptr;
    const Reason reason = site.prepare(site.self, &challenge_driver, &memory);
    if (reason == Reason::kNone) inside(challenge_driver, memory);
    site.restore(site.self);
    EXPECT_EQ(driver_.stack, std::vector<void*>{kOther});
    EXPECT_LE(driver_.nvml_users, nvml_users + 1);
    EXPECT_EQ(driver_.capture_mode, 1);
    return reason;
  }
  Reason prepare() {
    return with_device([](const ChallengeDriver&, ChallengeMemory*) {});
  }

  FakeDriver driver_;
  std::map<std::string, void*> functions_;
  void* const kContext = reinterpret_cast<void*>(static_cast<uintptr_t>(0xc0));
  void* const kOther = reinterpret_cast<void*>(static_cast<uintptr_t>(0xd0));

 private:
  static void* look_up(void* data, const char* name) {
    const auto& functions = static_cast<DeviceTest*>(data)->functions_;
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
  }
};

TEST_F(DeviceTest, MakesTheContextCurrentWhileItLastsAndRelaxesCaptures) {
  EXPECT_EQ(with_device([&](const ChallengeDriver&, ChallengeMemory* memory) {
              EXPECT_EQ(driver_.stack, (std::vector<void*>{kOther, kContext}));
              EXPECT_EQ(driver_.capture_mode, 2);
              EXPECT_NE(memory, nullptr);
            }),
            Reason::kNone);
}

TEST_F(DeviceTest, AsksTheDriverForMemoryAndNvmlForTheList) {
  for (const bool first_form : {true, false}) {
    if (!first_form) functions_.erase("nvmlDeviceGetComputeRunningProcesses");
    EXPECT_EQ(with_device([&](const ChallengeDriver& d, ChallengeMemory* memory) {
                size_t count = 0;
                ASSERT_EQ(d.list(d.self, memory->lists[0], &count), ListResult::kOk);
                ASSERT_EQ(count, 3U);
                EXPECT_EQ(memory->lists[0][0].pid, 100U);
                EXPECT_EQ(memory->lists[0][0].used_bytes, driver_.own_memory);
                EXPECT_EQ(memory->lists[0][2].pid, 102U);
                EXPECT_EQ(memory->lists[0][2].used_bytes, 2U);
                uint64_t pointer = 0;
                EXPECT_EQ(d.allocate(d.self, 1 << 20, &pointer), AllocateResult::kOk);
                EXPECT_EQ(pointer, 0x1000U);
                EXPECT_TRUE(d.release(d.self, pointer));
                EXPECT_FALSE(d.release(d.self, 1));
                EXPECT_EQ(d.allocate(d.self, 1ULL << 41, &pointer), AllocateResult::kNoMemory);
                uint64_t bytes = 0;
                EXPECT_TRUE(d.free_bytes(d.self, &bytes));
                EXPECT_EQ(bytes, 12345U);
              }),
              Reason::kNone);
  }
}

TEST_F(DeviceTest, SaysWhatIsWrongWithAList) {
  const auto listed = [&] {
    ListResult result = ListResult::kOk;
    with_device([&](const ChallengeDriver& d, ChallengeMemory* memory) {
      size_t count = 0;
      result = d.list(d.self, memory->lists[0], &count);
    });
    return result;
  };
  driver_.listed = kMaxListed;
  EXPECT_EQ(listed(), ListResult::kTruncated);
  driver_.listed = 3;
  driver_.list_result = gpu::kNvmlInsufficientSize;
  EXPECT_EQ(listed(), ListResult::kTruncated);
  driver_.list_result = gpu::kNvmlNoPermission;
  EXPECT_EQ(listed(), ListResult::kFailed);
  driver_.list_result = gpu::kNvmlSuccess;
}

TEST_F(DeviceTest, PassesOnThatAMemoryIsNotKnown) {
  driver_.own_memory = gpu::kNvmlMemoryNotAvailable;
  with_device([&](const ChallengeDriver& d, ChallengeMemory* memory) {
    size_t count = 0;
    EXPECT_EQ(d.list(d.self, memory->lists[0], &count), ListResult::kOk);
    ASSERT_EQ(count, 3U);
    EXPECT_EQ(memory->lists[0][0].used_bytes, kMemoryUnknown);
    EXPECT_NE(memory->lists[0][1].used_bytes, kMemoryUnknown);
  });
}

TEST_F(DeviceTest, DoesNotTouchADeviceThatIsSharedOrPartitioned) {
  driver_.mps_attribute = 1;
  EXPECT_EQ(prepare(), Reason::kMps);
  driver_.mps_attribute = 0;
  driver_.mps_clients = 2;
  EXPECT_EQ(prepare(), Reason::kMps);
  driver_.mps_result = gpu::kNvmlInsufficientSize;
  EXPECT_EQ(prepare(), Reason::kMps);
  driver_.mps_clients = 0;
  driver_.mps_result = gpu::kNvmlSuccess;
  driver_.mig = 1;
  EXPECT_EQ(prepare(), Reason::kMig);
}

// Neither way to learn of MPS: unknown is not "no".
TEST_F(DeviceTest, RefusesWhereItCannotBeToldWhetherClientsShare) {
  driver_.attribute_result = gpu::kCudaInvalidValue;
  EXPECT_EQ(prepare(), Reason::kNone);  // NVML can tell
  driver_.mps_result = gpu::kNvmlNotSupported;
  EXPECT_EQ(prepare(), Reason::kDriverIncomplete);
  functions_.erase("nvmlDeviceGetMPSComputeRunningProcesses_v3");
  EXPECT_EQ(prepare(), Reason::kDriverIncomplete);
  driver_.attribute_result = gpu::kCudaSuccess;
  EXPECT_EQ(prepare(), Reason::kNone);
}

TEST_F(DeviceTest, PairsDevicesByUuidOnly) {
  driver_.known_uuid = "GPU-ffffffff-0506-0708-090a-0b0c0d0e0fab";
  EXPECT_EQ(prepare(), Reason::kDeviceNotPaired);
}

TEST_F(DeviceTest, SaysThatNvmlIsMissingOrRefuses) {
  driver_.init_result = gpu::kNvmlNoPermission;
  EXPECT_EQ(prepare(), Reason::kNvmlUnavailable);
  driver_.init_result = gpu::kNvmlSuccess;
  std::erase_if(functions_, [](const auto& entry) { return entry.first.starts_with("nvml"); });
  EXPECT_EQ(prepare(), Reason::kNvmlUnavailable);
}

TEST_F(DeviceTest, EveryFunctionThatItNeedsIsMissed) {
  const auto all = functions_;
  for (const char* name : {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuCtxGetDevice",
                           "cuDeviceGetUuid_v2", "cuDeviceGetAttribute", "cuMemAlloc_v2", "cuMemFree_v2",
                           "cuMemGetInfo_v2", "nvmlInit_v2", "nvmlDeviceGetHandleByUUID"}) {
    functions_ = all;
    functions_.erase(name);
    EXPECT_EQ(prepare(), Reason::kDriverIncomplete) << name;
  }
  for (const char* name : {"cuThreadExchangeStreamCaptureMode", "nvmlDeviceGetMigMode", "nvmlShutdown"}) {
    functions_ = all;
    functions_.erase(name);
    EXPECT_EQ(prepare(), Reason::kNone) << name;
  }
}

TEST_F(DeviceTest, StartsNvmlOnceForEachChallengeAndLeavesItStarted) {
  EXPECT_EQ(prepare(), Reason::kNone);
  EXPECT_EQ(driver_.nvml_users, 1);
  driver_.mig = 1;
  EXPECT_EQ(prepare(), Reason::kMig);
  EXPECT_EQ(driver_.nvml_users, 2) << "counted by NVML, and nothing where it is started";
}

TEST_F(DeviceTest, AContextThatCannotBeMadeCurrentIsAFailure) {
  driver_.push_result = gpu::kCudaInvalidContext;
  EXPECT_EQ(prepare(), Reason::kContextFailed);
}

}  // namespace
}  // namespace rollcall::hostpid
