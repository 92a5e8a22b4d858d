// What the tests of the running node share: a node for the length of a test,
// the driver's functions by name, and children whose failures count.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gpu/abi.h"
#include "simgpu/session.h"

namespace rollcall::simgpu::test {

inline constexpr int kPatienceMs = 20'000;  // far more than anything here takes

// A profile with the given costs and faults, and two contexts' worth of memory
// where `memory_mib` does not say otherwise.
inline std::string profile_text(const std::string& more = "", int memory_mib = 1'000'000, int gpus = 1) {
  return "name = \"test\"\ndescription = \"for tests\"\n[device]\ngpus = " + std::to_string(gpus) +
         "\nname = \"Test GPU\"\nmemory_mib = " + std::to_string(memory_mib) +
         "\ncontext_mib = 518\ngranularity_kib = 2048\nmultiprocessors = 4\nthreads_per_multiprocessor = "
         "1024\n"
         "cuda_version = 12040\ndriver_version = \"1.2.3\"\n" +
         more;
}

// A node that ends with the test. Its environment is set in this process, for
// the children to inherit.
class Node {
 public:
  explicit Node(const std::string& profile = profile_text(),
                evidence::NvmlView view = evidence::NvmlView::kGlobal, int max_clients = 0) {
    char folder[] = "/tmp/simgpu-test-XXXXXX";
    folder_ = mkdtemp(folder);
    std::ofstream(folder_ / "profile.toml") << profile;
    SessionOptions options;
    options.simgpud = TEST_SIMGPUD;
    options.library_dir = TEST_SIM_DIR;
    options.profile_file = folder_ / "profile.toml";
    options.view = view;
    options.max_clients = max_clients;
    auto session = Session::start(options);
    if (!session) {
      ADD_FAILURE() << session.error().line();
      std::abort();
    }
    session_.emplace(std::move(*session));
    for (const auto& [name, value] : session_->environment("")) setenv(name.c_str(), value.c_str(), 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ~Node() {
    session_.reset();
    std::filesystem::remove_all(folder_);
    unsetenv("LD_LIBRARY_PATH");
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Session& session() { return *session_; }
  void kill_daemon() { kill(session_->pid(), SIGKILL); }
  [[nodiscard]] std::filesystem::path folder() const {
    return std::filesystem::path(getenv("ROLLCALL_SIM_SOCKET")).parent_path();
  }

 private:
  std::filesystem::path folder_;
  std::optional<Session> session_;
};

// The functions as a program finds them. Loaded anew in each child.
struct Driver {
  static void* library(const char* name) {
#ifdef TEST_STAND_INS_LINKED
    return name == nullptr ? nullptr : RTLD_DEFAULT;
#else
    void* handle = dlopen((std::string(TEST_SIM_DIR) + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) ADD_FAILURE() << dlerror();
    return handle;
#endif
  }
  template <typename Function>
  static Function* find(void* handle, const char* name) {
    void* address = dlsym(handle, name);
    EXPECT_NE(address, nullptr) << name;
    return reinterpret_cast<Function*>(address);
  }

  void* cuda = library("libcuda.so.1");
  void* nvml = library("libnvidia-ml.so.1");
#define TEST_CUDA(name, ...) \
  gpu::CuResult (*name)(__VA_ARGS__) = find<gpu::CuResult(__VA_ARGS__)>(cuda, #name)
#define TEST_NVML(name, ...) \
  gpu::NvmlReturn (*name)(__VA_ARGS__) = find<gpu::NvmlReturn(__VA_ARGS__)>(nvml, #name)
  TEST_CUDA(cuInit, unsigned);
  TEST_CUDA(cuDriverGetVersion, int*);
  TEST_CUDA(cuDeviceGetCount, int*);
  TEST_CUDA(cuDeviceGet, gpu::CuDevice*, int);
  TEST_CUDA(cuDeviceGetUuid, gpu::CuUuid*, gpu::CuDevice);
  TEST_CUDA(cuDeviceGetName, char*, int, gpu::CuDevice);
  TEST_CUDA(cuDeviceTotalMem_v2, size_t*, gpu::CuDevice);
  TEST_CUDA(cuDeviceGetAttribute, int*, int, gpu::CuDevice);
  TEST_CUDA(cuDevicePrimaryCtxRetain, gpu::CuContext*, gpu::CuDevice);
  TEST_CUDA(cuDevicePrimaryCtxRelease_v2, gpu::CuDevice);
  TEST_CUDA(cuDevicePrimaryCtxReset_v2, gpu::CuDevice);
  TEST_CUDA(cuCtxCreate_v2, gpu::CuContext*, unsigned, gpu::CuDevice);
  TEST_CUDA(cuCtxDestroy_v2, gpu::CuContext);
  TEST_CUDA(cuCtxSetCurrent, gpu::CuContext);
  TEST_CUDA(cuCtxGetCurrent, gpu::CuContext*);
  TEST_CUDA(cuCtxGetDevice, gpu::CuDevice*);
  TEST_CUDA(cuCtxPushCurrent_v2, gpu::CuContext);
  TEST_CUDA(cuCtxPopCurrent_v2, gpu::CuContext*);
  TEST_CUDA(cuMemAlloc_v2, gpu::CuDevicePtr*, size_t);
  TEST_CUDA(cuMemFree_v2, gpu::CuDevicePtr);
  TEST_CUDA(cuMemGetInfo_v2, size_t*, size_t*);
  TEST_CUDA(cuLaunchKernel, void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
            void*, void**, void**);
  TEST_CUDA(cuGetProcAddress, const char*, void**, int, uint64_t);
  TEST_CUDA(cuGetProcAddress_v2, const char*, void**, int, uint64_t, int*);
  TEST_NVML(nvmlInit_v2);
  TEST_NVML(nvmlInitWithFlags, unsigned);
  TEST_NVML(nvmlShutdown);
  TEST_NVML(nvmlDeviceGetCount_v2, unsigned*);
  TEST_NVML(nvmlDeviceGetHandleByIndex_v2, unsigned, gpu::NvmlDevice*);
  TEST_NVML(nvmlDeviceGetHandleByUUID, const char*, gpu::NvmlDevice*);
  TEST_NVML(nvmlDeviceGetUUID, gpu::NvmlDevice, char*, unsigned);
  TEST_NVML(nvmlDeviceGetComputeRunningProcesses, gpu::NvmlDevice, unsigned*, void*);
  TEST_NVML(nvmlDeviceGetComputeRunningProcesses_v2, gpu::NvmlDevice, unsigned*, void*);
  TEST_NVML(nvmlDeviceGetComputeRunningProcesses_v3, gpu::NvmlDevice, unsigned*, void*);
  TEST_NVML(nvmlDeviceGetProcessUtilization, gpu::NvmlDevice, gpu::NvmlProcessUtilization*, unsigned*,
            uint64_t);
  TEST_NVML(nvmlDeviceGetMemoryInfo, gpu::NvmlDevice, gpu::NvmlMemory*);
  TEST_NVML(nvmlDeviceGetMemoryInfo_v2, gpu::NvmlDevice, gpu::NvmlMemoryV2*);
  TEST_NVML(nvmlDeviceGetIndex, gpu::NvmlDevice, unsigned*);
  TEST_NVML(nvmlDeviceGetName, gpu::NvmlDevice, char*, unsigned);
  TEST_NVML(nvmlDeviceGetPersistenceMode, gpu::NvmlDevice, int*);
  TEST_NVML(nvmlDeviceGetComputeMode, gpu::NvmlDevice, int*);
  TEST_NVML(nvmlDeviceGetMigMode, gpu::NvmlDevice, unsigned*, unsigned*);
  TEST_NVML(nvmlSystemGetCudaDriverVersion, int*);
  TEST_NVML(nvmlSystemGetCudaDriverVersion_v2, int*);
  TEST_NVML(nvmlSystemGetDriverVersion, char*, unsigned);
  TEST_NVML(nvmlSystemGetProcessName, unsigned, char*, unsigned);
#undef TEST_CUDA
#undef TEST_NVML

  // The first GPU's list; nvmlInit must have been called.
  [[nodiscard]] std::vector<gpu::NvmlProcessInfoV2> list(unsigned index = 0) const {
    gpu::NvmlDevice device = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(index, &device), gpu::kNvmlSuccess);
    unsigned count = 1024;
    std::vector<gpu::NvmlProcessInfoV2> rows(count);
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, rows.data()), gpu::kNvmlSuccess);
    rows.resize(count);
    return rows;
  }
  [[nodiscard]] std::vector<unsigned> pids(unsigned index = 0) const {
    std::vector<unsigned> result;
    for (const auto& row : list(index)) result.push_back(row.pid);
    return result;
  }
};

using Pids = std::vector<unsigned>;

// A forked child that runs `body` and exits with 0 if no expectation of it
// failed; killed at the end if it is still there.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      alarm(60);
      body();
      fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
  }
  ~Child() {
    if (pid_ <= 0 || done_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill_now() {
    kill(pid_, SIGKILL);
    wait();
  }
  // Its wait status.
  int wait() {
    if (!done_) waitpid(pid_, &status_, 0);
    done_ = true;
    return status_;
  }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool done_ = false;
};

inline void in_child(const std::function<void()>& body) {
  Child child(body);
  EXPECT_EQ(child.wait(), 0) << "wait status of the child";
}

// A child with an initialised driver and NVML on a fresh node.
inline void on_node(const std::string& profile, const std::function<void(const Driver&)>& body) {
  const Node node(profile);
  in_child([&] {
    const Driver driver;
    ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    body(driver);
  });
}

// A door between processes: opened once, then open.
class Gate {
 public:
  Gate() {
    if (pipe2(ends_, O_CLOEXEC) != 0) std::abort();
  }
  ~Gate() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void pass() const {
    pollfd poll_for{ends_[0], POLLIN, 0};
    ASSERT_EQ(poll(&poll_for, 1, kPatienceMs), 1) << "nobody opened the gate";
  }

 private:
  int ends_[2] = {};
};

// True as soon as `condition` is; false if that takes unreasonably long.
inline bool eventually(const std::function<bool()>& condition) {
  const int64_t deadline_ns = base::monotonic_ns() + kPatienceMs * base::kNsPerMs;
  while (!condition()) {
    if (base::monotonic_ns() > deadline_ns) return false;
    usleep(1000);
  }
  return true;
}

}  // namespace rollcall::simgpu::test
