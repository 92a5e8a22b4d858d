// Drivers that differ from the usual one, each as a profile sets it up, and
// devices that are too small: what a process then sees.
#include <sched.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "simgpu_support.h"

namespace rollcall::simgpu::test {
namespace {

const std::string kThreads = "[nvml]\nlists = \"thread\"\n";

TEST(OddDriver, WithoutADeviceCudaFindsNoneAndNvmlCountsNone) {
  const Node node(profile_text("", 1000, 0));
  in_child([] {
    const Driver driver;
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaNoDevice);
    int cuda_count = -1;
    EXPECT_EQ(driver.cuDeviceGetCount(&cuda_count), gpu::kCudaNotInitialized);
    EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    unsigned count = 9;
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlSuccess);
    EXPECT_EQ(count, 0U);
    gpu::NvmlDevice device = nullptr;
    EXPECT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlInvalidArgument);
    char version[16];
    EXPECT_EQ(driver.nvmlSystemGetDriverVersion(version, sizeof version), gpu::kNvmlSuccess);
  });
}

TEST(OddDriver, MayRefuseNvmlAndStillServeCuda) {
  const Node node(profile_text("[nvml]\nrefuse = true\n"));
  in_child([] {
    const Driver driver;
    for (int attempt = 0; attempt < 20; ++attempt) {  // more than a process may have connections
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlNoPermission);
    }
    unsigned count = 0;
    EXPECT_EQ(driver.nvmlDeviceGetCount_v2(&count), gpu::kNvmlUninitialized);
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
  });
}

TEST(OddDriver, MayNotKnowTheMemoryOfAProcess) {
  on_node(profile_text("[nvml]\nprocess_memory = false\n"), [](const Driver& driver) {
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    const auto rows = driver.list();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].pid, static_cast<unsigned>(getpid()));
    EXPECT_EQ(rows[0].used_gpu_memory, gpu::kNvmlMemoryNotAvailable);
    // The device's own figure is known all the same.
    gpu::NvmlDevice device = nullptr;
    gpu::NvmlMemory memory{};
    ASSERT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
    ASSERT_EQ(driver.nvmlDeviceGetMemoryInfo(device, &memory), gpu::kNvmlSuccess);
    EXPECT_EQ(memory.used, 518ULL << 20);
  });
}

TEST(OddDriver, MayHavePersistenceOff) {
  on_node(profile_text("[nvml]\npersistence = false\n"), [](const Driver& driver) {
    gpu::NvmlDevice device = nullptr;
    int mode = -1;
    ASSERT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
    EXPECT_EQ(driver.nvmlDeviceGetPersistenceMode(device, &mode), gpu::kNvmlSuccess);
    EXPECT_EQ(mode, gpu::kNvmlFeatureDisabled);
  });
}

// Initialises in a second thread and returns its id.
unsigned initialise_in_a_thread(const Driver& driver) {
  unsigned id = 0;
  std::thread second([&] {
    id = static_cast<unsigned>(gettid());
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
  });
  second.join();
  gpu::CuContext context = nullptr;
  EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
  return id;
}

TEST(OddDriver, MayListTheThreadThatCalledCuInit) {
  const Node node(profile_text(kThreads));
  in_child([] {
    const Driver driver;
    const unsigned thread = initialise_in_a_thread(driver);
    EXPECT_NE(thread, static_cast<unsigned>(getpid()));
    EXPECT_EQ(driver.pids(), Pids{thread});
  });
  in_child([] {  // the main thread's id is the process's
    const Driver driver;
    ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.pids(), Pids{static_cast<unsigned>(getpid())});
  });
}

TEST(OddDriver, TheUsualOneListsTheProcessWhicheverThreadCalledCuInit) {
  const Node node(profile_text());
  in_child([] {
    const Driver driver;
    initialise_in_a_thread(driver);
    EXPECT_EQ(driver.pids(), Pids{static_cast<unsigned>(getpid())});
  });
}

// A process in a PID namespace of its own sees its thread's number there where the
// view is translated, and the outer one where it is global.
void expect_thread_in_a_namespace(evidence::NvmlView view) {
  const Node node(profile_text(kThreads), view);
  Child parent([&] {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    in_child([&] {
      const Driver driver;
      const unsigned thread = initialise_in_a_thread(driver);
      const Pids pids = driver.pids();
      ASSERT_EQ(pids.size(), 1U);
      if (view == evidence::NvmlView::kTranslated) {
        EXPECT_EQ(pids[0], thread);
      } else {
        EXPECT_GT(pids[0], thread);  // the outer numbering is far ahead of a fresh namespace's
      }
    });
  });
  const int status = parent.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to make PID namespaces";
  EXPECT_EQ(status, 0);
}

TEST(OddDriver, TranslatesTheThreadsNumber) {
  expect_thread_in_a_namespace(evidence::NvmlView::kTranslated);
}

TEST(OddDriver, ListsTheThreadsOuterNumberInAGlobalView) {
  expect_thread_in_a_namespace(evidence::NvmlView::kGlobal);
}

// Three contexts fit: of five processes that start together, three get one.
TEST(SmallDevice, SomeOfTheProcessesRunOutOfMemory) {
  const Node node(profile_text("", 3 * 518 + 100));
  const Gate go;
  const Gate leave;
  std::vector<std::unique_ptr<Child>> children;
  const Gate answered[5];
  auto* results = static_cast<gpu::CuResult*>(
      mmap(nullptr, 5 * sizeof(gpu::CuResult), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(results, MAP_FAILED);
  for (int i = 0; i < 5; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      const Driver driver;
      ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
      go.pass();
      gpu::CuContext context = nullptr;
      results[i] = driver.cuDevicePrimaryCtxRetain(&context, 0);
      answered[i].open();
      leave.pass();  // alive, so that nobody's context makes room
    }));
  }
  go.open();
  for (const Gate& gate : answered) gate.pass();
  leave.open();
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(std::count(results, results + 5, gpu::kCudaSuccess), 3);
  EXPECT_EQ(std::count(results, results + 5, gpu::kCudaOutOfMemory), 2);
  munmap(results, 5 * sizeof(gpu::CuResult));
}

}  // namespace
}  // namespace rollcall::simgpu::test
