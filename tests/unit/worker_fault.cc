// Faults on order: the text is obeyed to the letter, and a malformed one orders
// nothing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked_child.h"
#include "worker/fault.h"

namespace rollcall::worker {
namespace {

TEST(Fault, EveryActionHasItsWord) {
  EXPECT_EQ(find_fault("3:gate:crash", 3, "gate"), FaultAction::kCrash);
  EXPECT_EQ(find_fault("3:gate:kill", 3, "gate"), FaultAction::kKill);
  EXPECT_EQ(find_fault("3:gate:stop", 3, "gate"), FaultAction::kStop);
  EXPECT_EQ(find_fault("3:gate:exit", 3, "gate"), FaultAction::kExit);
}

TEST(Fault, IsForOneWorkerAtOneStage) {
  EXPECT_EQ(find_fault("3:gate:kill", 2, "gate"), FaultAction::kNone);
  EXPECT_EQ(find_fault("3:gate:kill", 33, "gate"), FaultAction::kNone);
  EXPECT_EQ(find_fault("3:gate:kill", 3, "start"), FaultAction::kNone);
  EXPECT_EQ(find_fault("3:gate:kill", 3, "gat"), FaultAction::kNone);
  EXPECT_EQ(find_fault("3:gate:kill", 3, "gates"), FaultAction::kNone);
}

TEST(Fault, IsFoundAnywhereInTheList) {
  const char* list = "0:start:exit,12:release:stop,12:finish:kill";
  EXPECT_EQ(find_fault(list, 0, "start"), FaultAction::kExit);
  EXPECT_EQ(find_fault(list, 12, "release"), FaultAction::kStop);
  EXPECT_EQ(find_fault(list, 12, "finish"), FaultAction::kKill);
  EXPECT_EQ(find_fault(list, 12, "start"), FaultAction::kNone);
}

TEST(Fault, TheFirstOrderOfAKindCounts) {
  EXPECT_EQ(find_fault("1:gate:kill,1:gate:exit", 1, "gate"), FaultAction::kKill);
}

TEST(Fault, NoTextOrdersNothing) {
  EXPECT_EQ(find_fault(nullptr, 0, "start"), FaultAction::kNone);
  EXPECT_EQ(find_fault("", 0, "start"), FaultAction::kNone);
}

TEST(Fault, MalformedTextOrdersNothing) {
  for (const char* text :
       {"0", "0:", "0:start", "0:start:", "0:start:explode", "0:start:kills", ":start:kill", "x:start:kill",
        "-0:start:kill", "0 :start:kill", "0000000:start:kill", "0:start:kill:x", "0:start:kill:", "kill",
        ",", ":::", "start:0:kill"}) {
    EXPECT_EQ(find_fault(text, 0, "start"), FaultAction::kNone) << text;
  }
}

TEST(Fault, ABadNumberDoesNotHideTheNextOrder) {
  EXPECT_EQ(find_fault("x:start:kill,0:start:exit", 0, "start"), FaultAction::kExit);
  EXPECT_EQ(find_fault("4294967296:start:kill,0:start:exit", 0, "start"), FaultAction::kExit);
}

// How a child ends that carries the action out.
int status_after(FaultAction action) {
  const pid_t pid = fork();
  if (pid == 0) {
    carry_out(action);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
  if (WIFSTOPPED(status)) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  return status;
}

TEST(Fault, IsCarriedOut) {
  const int crash = status_after(FaultAction::kCrash);
  EXPECT_TRUE(WIFSIGNALED(crash) && WTERMSIG(crash) == SIGSEGV);
  const int killed = status_after(FaultAction::kKill);
  EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL);
  const int stop = status_after(FaultAction::kStop);
  EXPECT_TRUE(WIFSTOPPED(stop) && WSTOPSIG(stop) == SIGSTOP);
  const int leaves = status_after(FaultAction::kExit);
  EXPECT_TRUE(WIFEXITED(leaves) && WEXITSTATUS(leaves) == 3);
  const int nothing = status_after(FaultAction::kNone);
  EXPECT_TRUE(WIFEXITED(nothing) && WEXITSTATUS(nothing) == 0);
}

TEST(Fault, AStoppedWorkerGoesOnWhenItIsContinued) {
  test::ForkedChild child([] {
    carry_out(FaultAction::kStop);
    return 7;
  });
  int status = 0;
  ASSERT_EQ(waitpid(child.pid(), &status, WUNTRACED), child.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  child.signal(SIGCONT);
  EXPECT_EQ(child.exit_code(), 7);
}

}  // namespace
}  // namespace rollcall::worker
