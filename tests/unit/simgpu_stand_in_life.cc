// Several processes on one node, and what becomes of what they had when they
// die; and what becomes of them when the node dies.
#include <sched.h>

#include "simgpu_support.h"

namespace rollcall::simgpu::test {
namespace {

// What a child saw, for its parent to read.
struct Seen {
  unsigned count;
  unsigned pids[16];
  [[nodiscard]] Pids list() const { return {pids, pids + count}; }
};

class SharedSeen {
 public:
  SharedSeen() {
    void* memory = mmap(nullptr, sizeof(Seen) * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    seen_ = static_cast<Seen*>(memory);
  }
  ~SharedSeen() { munmap(seen_, sizeof(Seen) * 4); }
  SharedSeen(const SharedSeen&) = delete;
  SharedSeen& operator=(const SharedSeen&) = delete;
  Seen& operator[](size_t i) { return seen_[i]; }

 private:
  Seen* seen_;
};

void retain(const Driver& driver) {
  gpu::CuContext context = nullptr;
  ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
  ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaSuccess);
}

void note(const Driver& driver, Seen& seen) {
  const Pids pids = driver.pids();
  seen.count = static_cast<unsigned>(std::min<size_t>(pids.size(), 16));
  std::copy_n(pids.begin(), seen.count, seen.pids);
}

// What an observer without a context sees.
Pids observe() {
  SharedSeen seen;
  in_child([&] {
    const Driver driver;
    ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    note(driver, seen[0]);
  });
  return seen[0].list();
}

Pids pids_of(std::initializer_list<pid_t> pids) {
  return {pids.begin(), pids.end()};
}

TEST(SimulatedNode, ListsProcessesInTheOrderOfTheirContexts) {
  const Node node;
  const Gate first_in;
  const Gate second_in;
  const Child first([&] {
    const Driver driver;
    retain(driver);
    first_in.open();
    pause();
  });
  first_in.pass();
  const Child second([&] {
    const Driver driver;
    retain(driver);
    second_in.open();
    pause();
  });
  second_in.pass();
  EXPECT_EQ(observe(), pids_of({first.pid(), second.pid()}));
}

TEST(SimulatedNode, AKilledProcessLosesItsContextsAndMemory) {
  const Node node(profile_text("", 600));  // room for one context
  const Gate in;
  Child holder([&] {
    const Driver driver;
    retain(driver);
    in.open();
    pause();
  });
  in.pass();
  in_child([] {
    const Driver driver;
    gpu::CuContext context = nullptr;
    ASSERT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), gpu::kCudaOutOfMemory);
  });
  holder.kill_now();
  EXPECT_TRUE(eventually([] { return observe().empty(); }));
  in_child([] {
    const Driver driver;
    retain(driver);
  });
}

TEST(SimulatedNode, AChildThatHoldsTheSocketDoesNotKeepItsDeadParentAlive) {
  const Node node;
  const Gate in;
  SharedSeen seen;
  Child parent([&] {
    const Driver driver;
    retain(driver);
    const pid_t child = fork();
    if (child == 0) {
      pause();  // with every descriptor of its parent
      _exit(0);
    }
    seen[0].count = static_cast<unsigned>(child);
    in.open();
    pause();
  });
  in.pass();
  const auto grandchild = static_cast<pid_t>(seen[0].count);
  EXPECT_EQ(observe(), pids_of({parent.pid()}));
  parent.kill_now();
  EXPECT_TRUE(eventually([] { return observe().empty(); }));
  EXPECT_EQ(kill(grandchild, 0), 0);  // it was there all the while
  kill(grandchild, SIGKILL);
}

bool may_make_pid_namespaces() {
  Child child([] { _exit(unshare(CLONE_NEWPID) == 0 ? 0 : 1); });
  return child.wait() == 0;
}

// A process in the daemon's PID namespace and one in its own, each with a
// context, each noting what it sees.
void two_namespaces(evidence::NvmlView view, const std::function<void(pid_t, pid_t, SharedSeen&)>& check) {
  if (!may_make_pid_namespaces()) GTEST_SKIP() << "no PID namespace allowed here";
  const Node node(profile_text(), view);
  const Gate outer_in;
  const Gate inner_in;
  const Gate look;
  const Gate outer_saw;
  const Gate inner_saw;
  const Gate leave;
  SharedSeen seen;
  Child outer([&] {
    const Driver driver;
    retain(driver);
    outer_in.open();
    look.pass();
    note(driver, seen[0]);
    outer_saw.open();
    leave.pass();
  });
  outer_in.pass();
  Child maker([&] {
    if (unshare(CLONE_NEWPID) != 0) _exit(2);
    const pid_t inner = fork();
    if (inner == 0) {
      alarm(60);
      const Driver driver;
      if (getpid() != 1) _exit(2);
      retain(driver);
      inner_in.open();
      look.pass();
      note(driver, seen[1]);
      inner_saw.open();
      leave.pass();
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    seen[2].count = static_cast<unsigned>(inner);
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(status == 0 ? 0 : 1);
  });
  inner_in.pass();
  look.open();
  outer_saw.pass();
  inner_saw.pass();
  leave.open();
  EXPECT_EQ(outer.wait(), 0);
  EXPECT_EQ(maker.wait(), 0);
  check(outer.pid(), static_cast<pid_t>(seen[2].count), seen);
}

TEST(SimulatedNode, TheGlobalViewNumbersEverybodyAsTheDaemonDoes) {
  two_namespaces(evidence::NvmlView::kGlobal, [](pid_t outer, pid_t inner, SharedSeen& seen) {
    EXPECT_EQ(seen[0].list(), pids_of({outer, inner}));
    EXPECT_EQ(seen[1].list(), pids_of({outer, inner}));
  });
}

TEST(SimulatedNode, TheTranslatedViewNumbersAsTheCallersNamespaceDoes) {
  two_namespaces(evidence::NvmlView::kTranslated, [](pid_t outer, pid_t inner, SharedSeen& seen) {
    EXPECT_EQ(seen[0].list(), pids_of({outer, inner}));
    EXPECT_EQ(seen[1].list(), pids_of({1}));
  });
}

// A child in a PID namespace of its own has the number 1, as its parent may
// have in its: the number does not tell them apart.
TEST(SimulatedNode, AForkedChildWithItsParentsNumberIsStillAnother) {
  if (!may_make_pid_namespaces()) GTEST_SKIP() << "no PID namespace allowed here";
  const Node node;
  Child maker([] {
    if (unshare(CLONE_NEWPID) != 0) _exit(2);
    const pid_t first = fork();
    if (first == 0) {
      const Driver driver;
      retain(driver);
      if (unshare(CLONE_NEWPID) != 0) _exit(3);
      const pid_t second = fork();
      if (second == 0) {
        int count = 0;
        _exit(getpid() == 1 && driver.cuDeviceGetCount(&count) == gpu::kCudaNotInitialized &&
                      driver.cuInit(0) == gpu::kCudaNotInitialized
                  ? 0
                  : 4);
      }
      int status = 0;
      waitpid(second, &status, 0);
      _exit(getpid() == 1 && status == 0 ? 0 : 5);
    }
    int status = 0;
    waitpid(first, &status, 0);
    _exit(status == 0 ? 0 : 1);
  });
  EXPECT_EQ(maker.wait(), 0);
}

TEST(SimulatedNode, CutsItsListAtAsManyAsNvmlReturns) {
  const Node node;
  constexpr size_t kProcesses = gpu::kNvmlMaxProcesses + 10;
  std::vector<std::unique_ptr<Child>> children;
  const Gate hold;
  int arrived[2];
  ASSERT_EQ(pipe(arrived), 0);
  for (size_t i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      const Driver driver;
      retain(driver);
      EXPECT_EQ(write(arrived[1], "x", 1), 1);
      hold.pass();
    }));
  }
  char byte = 0;
  for (size_t i = 0; i < kProcesses; ++i) ASSERT_EQ(read(arrived[0], &byte, 1), 1);
  in_child([] {
    const Driver driver;
    ASSERT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
    gpu::NvmlDevice device = nullptr;
    ASSERT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
    unsigned count = 0;
    EXPECT_EQ(driver.nvmlDeviceGetComputeRunningProcesses(device, &count, nullptr),
              gpu::kNvmlInsufficientSize);
    EXPECT_EQ(count, gpu::kNvmlMaxProcesses);
    EXPECT_EQ(driver.pids().size(), gpu::kNvmlMaxProcesses);
  });
  hold.open();
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  close(arrived[0]);
  close(arrived[1]);
}

TEST(SimulatedNode, ADeadNodeEndsEveryWaitAtOnce) {
  Node node(profile_text("[cost.cuinit]\nserial_ms = 3600000\n"));
  const Gate asked;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      const Driver driver;
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlSuccess);
      gpu::NvmlDevice device = nullptr;
      EXPECT_EQ(driver.nvmlDeviceGetHandleByIndex_v2(0, &device), gpu::kNvmlSuccess);
      asked.open();
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaSystemNotReady);
      EXPECT_EQ(driver.cuInit(0), gpu::kCudaSystemNotReady);
      unsigned count = 0;
      EXPECT_EQ(driver.nvmlDeviceGetComputeRunningProcesses(device, &count, nullptr), gpu::kNvmlUnknown);
      EXPECT_EQ(driver.nvmlShutdown(), gpu::kNvmlSuccess);
      EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlDriverNotLoaded);
    }));
  }
  asked.pass();
  usleep(200'000);  // one holds the lock, the others queue
  const int64_t killed_ns = base::monotonic_ns();
  node.kill_daemon();
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_LT(base::monotonic_ns() - killed_ns, 60 * base::kNsPerSecond);
}

TEST(SimulatedNode, AProcessThatDiesInTheQueueCostsTheOthersNothing) {
  const Node node(profile_text("[cost.cuinit]\nserial_ms = 300\n"));
  const auto initialise = [] {
    const Driver driver;
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
  };
  const int64_t start_ns = base::monotonic_ns();
  Child first(initialise);
  usleep(50'000);
  std::vector<std::unique_ptr<Child>> queued;
  for (int i = 0; i < 50; ++i) queued.push_back(std::make_unique<Child>(initialise));
  usleep(100'000);
  Child last(initialise);
  usleep(50'000);
  for (const auto& child : queued) child->kill_now();
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(last.wait(), 0);
  const int64_t took_ns = base::monotonic_ns() - start_ns;
  EXPECT_GE(took_ns, 600 * base::kNsPerMs);
  EXPECT_LT(took_ns, 12 * base::kNsPerSecond);  // with the fifty it would be 15.6
}

TEST(SimulatedNode, SendsAwayWhatItHasNoRoomFor) {
  const Node node(profile_text(), evidence::NvmlView::kGlobal, 2);
  const Gate in[2];
  const auto hold = [&](int i) {
    const Driver driver;
    retain(driver);
    in[i].open();
    pause();
  };
  Child first([&] { hold(0); });
  in[0].pass();
  const Child second([&] { hold(1); });
  in[1].pass();
  const auto refused = [] {
    const Driver driver;
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSystemNotReady);
    EXPECT_EQ(driver.nvmlInit_v2(), gpu::kNvmlUnknown);
  };
  in_child(refused);
  EXPECT_EQ(kill(first.pid(), 0), 0);
  first.kill_now();
  EXPECT_TRUE(eventually([] {
    Child third([] {
      const Driver driver;
      _exit(driver.cuInit(0) == gpu::kCudaSuccess ? 0 : 1);
    });
    return third.wait() == 0;
  }));
}

// --- faults of a profile ----------------------------------------------------------

int status_of_second_cuinit(const std::string& action) {
  const Node node(profile_text("[[fault]]\nnth_cuinit = 2\naction = \"" + action + "\"\n"));
  const auto initialise = [] {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer has its own
    const Driver driver;
    _exit(driver.cuInit(0) % 256);
  };
  Child first(initialise);
  EXPECT_EQ(first.wait(), 0);
  Child second(initialise);
  int status = 0;
  EXPECT_EQ(waitpid(second.pid(), &status, WUNTRACED), second.pid());
  if (WIFSTOPPED(status)) {
    kill(second.pid(), SIGCONT);
    EXPECT_EQ(second.wait(), 0);  // goes on as if nothing had been
  }
  Child third(initialise);
  EXPECT_EQ(third.wait(), 0);
  return status;
}

TEST(Faults, Crash) {
  const int status = status_of_second_cuinit("crash");
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

TEST(Faults, Stop) {
  const int status = status_of_second_cuinit("stop");
  EXPECT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(WSTOPSIG(status), SIGSTOP);
}

TEST(Faults, Exit) {
  const int status = status_of_second_cuinit("exit");
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(Faults, Kill) {
  const int status = status_of_second_cuinit("kill");
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(Faults, Fail) {
  const int status = status_of_second_cuinit("fail");
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), gpu::kCudaUnknown % 256);
}

}  // namespace
}  // namespace rollcall::simgpu::test
