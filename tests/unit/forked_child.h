// A forked child for tests of what processes do to each other. It is ours from
// the fork to the reaping: killed and reaped at the latest when the test ends.
// The child runs one function on a copy of the test's memory and leaves through
// _exit with what that function returned; it reports nothing to GoogleTest.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <utility>

namespace rollcall::test {

// How long a test waits for what must happen before it calls it a hang. Never a
// measure of speed.
inline constexpr int kPatienceS = 60;

// Asks again and again until it is so; false if it never was.
template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceS);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class ForkedChild {
 public:
  template <typename Function>
  explicit ForkedChild(Function function) {
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(function());
    }
    if (pid_ < 0) ADD_FAILURE() << "cannot fork";
  }
  ForkedChild(ForkedChild&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ForkedChild& operator=(ForkedChild&&) = delete;
  ~ForkedChild() { kill_and_reap(); }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  // Its exit code; -1 if it ended in another way or never.
  int exit_code() {
    int status = 0;
    const bool ended = eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
    if (!ended) {
      kill_and_reap();
      return -1;
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Stopped, and known to be.
  void stop() const {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }

  void kill_and_reap() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

// A value that the test and its children see alike.
template <typename T>
class Shared {
 public:
  Shared() {
    void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    value_ = new (memory) T{};
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(static_cast<void*>(value_), sizeof(T)); }

  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

// Whether a process sleeps in the kernel; false for one that runs or is gone.
inline bool is_asleep(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  const size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text.at(name_end + 2) == 'S';
}

// Whether a pidfd's process ends, in reasonable time.
inline bool ends(int pidfd) {
  pollfd waiting{pidfd, POLLIN, 0};
  return poll(&waiting, 1, kPatienceS * 1000) == 1;
}

}  // namespace rollcall::test
