// NVML as a discovery uses it: believed only as far as it makes sense.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string.h>

#include <vector>

#include "gpu/nvml.h"

namespace rollcall::gpu {
namespace {

// What the driver answers next.
struct Answer {
  NvmlReturn status = kNvmlSuccess;
  unsigned count = 0;
  std::vector<unsigned> pids;
  unsigned asked_capacity = 0;
};
Answer answer;

NvmlReturn answer_list(NvmlDevice, unsigned* count, void* entries) {
  answer.asked_capacity = *count;
  auto* list = static_cast<NvmlProcessInfoV1*>(entries);
  for (size_t i = 0; i < answer.pids.size(); ++i) list[i] = {answer.pids[i], 1};
  *count = answer.count;
  return answer.status;
}

class ListComputePids : public testing::Test {
 protected:
  NvmlReturn list() {
    Nvml nvml;
    nvml.compute_processes_v1 = answer_list;
    return list_compute_pids(nvml, nullptr, scratch_.data(), pids_.data(), &count_);
  }
  std::vector<NvmlProcessInfoV1> scratch_ = std::vector<NvmlProcessInfoV1>(kNvmlMaxProcesses);
  std::vector<unsigned> pids_ = std::vector<unsigned>(kNvmlMaxProcesses, 0);
  unsigned count_ = 99;
};

TEST_F(ListComputePids, KeepsTheOrderOfTheDriver) {
  answer = {kNvmlSuccess, 3, {30, 10, 20}};
  EXPECT_EQ(list(), kNvmlSuccess);
  ASSERT_EQ(count_, 3U);
  EXPECT_EQ(std::vector<unsigned>(pids_.begin(), pids_.begin() + 3), (std::vector<unsigned>{30, 10, 20}));
}

TEST_F(ListComputePids, OffersRoomForAllThatADriverLists) {
  answer = {kNvmlSuccess, 0, {}};
  EXPECT_EQ(list(), kNvmlSuccess);
  EXPECT_EQ(count_, 0U);
  EXPECT_EQ(answer.asked_capacity, kNvmlMaxProcesses);
}

TEST_F(ListComputePids, AFullListIsReadWhole) {
  answer = {kNvmlSuccess, kNvmlMaxProcesses, std::vector<unsigned>(kNvmlMaxProcesses, 5)};
  EXPECT_EQ(list(), kNvmlSuccess);
  EXPECT_EQ(count_, kNvmlMaxProcesses);
  EXPECT_EQ(pids_.back(), 5U);
}

TEST_F(ListComputePids, ARefusalLeavesNoPids) {
  answer = {kNvmlInsufficientSize, 7, {1, 2}};
  EXPECT_EQ(list(), kNvmlInsufficientSize);
  EXPECT_EQ(count_, 0U);
}

TEST_F(ListComputePids, MoreThanFitsIsNotBelieved) {
  answer = {kNvmlSuccess, kNvmlMaxProcesses + 1, {1}};
  EXPECT_EQ(list(), kNvmlUnknown);
  EXPECT_EQ(count_, 0U);
}

// The stand-in is loaded by path; after that the plain name finds it.
class LoadNvml : public testing::Test {
 protected:
  void SetUp() override {
    handle_ = dlopen(TEST_SIM_DIR "/libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  void* handle_ = nullptr;
};

TEST_F(LoadNvml, FindsTheNewerNames) {
  Nvml nvml;
  ASSERT_TRUE(load_nvml([](void* handle, const char* name) { return dlsym(handle, name); }, &nvml));
  EXPECT_EQ(reinterpret_cast<void*>(nvml.init), dlsym(handle_, "nvmlInit_v2"));
  EXPECT_EQ(reinterpret_cast<void*>(nvml.shutdown), dlsym(handle_, "nvmlShutdown"));
  EXPECT_EQ(reinterpret_cast<void*>(nvml.device_by_index), dlsym(handle_, "nvmlDeviceGetHandleByIndex_v2"));
  EXPECT_EQ(reinterpret_cast<void*>(nvml.compute_processes_v1),
            dlsym(handle_, "nvmlDeviceGetComputeRunningProcesses"));
}

// A driver so old that it has no _v2.
void* old_driver(void*, const char* name) {
  return strstr(name, "_v2") != nullptr ? nullptr : const_cast<char*>(name);
}

TEST_F(LoadNvml, TakesTheOlderNamesFromAnOlderDriver) {
  Nvml nvml;
  ASSERT_TRUE(load_nvml(old_driver, &nvml));
  EXPECT_STREQ(reinterpret_cast<const char*>(nvml.init), "nvmlInit");
  EXPECT_STREQ(reinterpret_cast<const char*>(nvml.device_by_index), "nvmlDeviceGetHandleByIndex");
}

void* without_lists(void*, const char* name) {
  return strstr(name, "ComputeRunningProcesses") != nullptr ? nullptr : const_cast<char*>(name);
}

TEST_F(LoadNvml, AMissingFunctionIsARefusal) {
  Nvml nvml;
  EXPECT_FALSE(load_nvml(without_lists, &nvml));
}

}  // namespace
}  // namespace rollcall::gpu
