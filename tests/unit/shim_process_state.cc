// What the shim remembers is its own process's: a child begins anew, however it was made,
// and whatever number it has.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "shim/process_state.h"

namespace rollcall::shim {
namespace {

// The exit status of a child that runs `check`; -1 where it cannot be made.
template <typename Check>
int in_child(int flags, Check check) {
  const auto child =
      static_cast<pid_t>(syscall(SYS_clone, static_cast<unsigned long>(flags | SIGCHLD), 0, 0, 0, 0));
  if (child < 0) return -1;
  if (child == 0) syscall(SYS_exit_group, check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(ProcessStateTest, IsOneForTheWholeProcess) {
  ProcessState* state = process_state();
  ASSERT_NE(state, nullptr);
  std::atomic<int> others{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { others += process_state() != state; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(others, 0);
}

// Comparing PIDs would not do: in its own namespace a child can have its parent's number.
TEST(ProcessStateTest, AChildKnowsNothingOfItsParents) {
  ProcessState* state = process_state();
  ASSERT_NE(state, nullptr);
  state->owner.store(1);
  state->wants_context.store(1);
  const auto forgotten = [] {
    ProcessState* own = process_state();
    return own != nullptr && own->owner.load() == 0 && own->wants_context.load() == 0;
  };
  EXPECT_EQ(in_child(0, forgotten), 0);
  const int in_namespace = in_child(CLONE_NEWPID, forgotten);
  EXPECT_TRUE(in_namespace == 0 || in_namespace == -1) << in_namespace;
  EXPECT_EQ(state->owner.load(), 1U);
  state->owner.store(0);
  state->wants_context.store(0);
}

// One that forks while another thread is in the middle must not wait for it in the child.
TEST(ProcessStateTest, AChildDoesNotWaitForAThreadOfItsParent) {
  ProcessState* state = process_state();
  const auto own_pid = static_cast<uint32_t>(getpid());
  const Turn turn(state, own_pid);
  EXPECT_EQ(in_child(0,
                     [] {
                       const Turn own(process_state(), static_cast<uint32_t>(syscall(SYS_getpid)));
                       return true;
                     }),
            0);
}

TEST(ProcessStateTest, ThreadsTakeTurns) {
  ProcessState* state = process_state();
  const auto own_pid = static_cast<uint32_t>(getpid());
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        const Turn turn(state, own_pid);
        if (++inside > 1) together = true;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(together);
}

}  // namespace
}  // namespace rollcall::shim
