// rollcall-worker as a process, with a board made by hand: who it obeys, what it
// posts, and that it never stays behind.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <new>

#include "base/fd.h"
#include "base/futex.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "worker/board.h"

namespace rollcall::worker {
namespace {

using base::Fd;
using test::eventually;
using test::ForkedChild;

constexpr int kBadInvocation = 2;
constexpr int kLauncherGone = 4;

// Two workers' board, a lifeline, and workers started on them. The first driver
// library that they find is none, so that no real one is ever loaded.
class WorkerProgram : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("libcuda.so.1", "not a library");
    const size_t size = board_size_bytes(2);
    board_fd_.reset(memfd_create("board", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(board_fd_.get(), static_cast<off_t>(size)), 0);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, board_fd_.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    board_ = new (memory) BoardHeader{};
    board_->magic = kBoardMagic;
    board_->version = kBoardVersion;
    board_->workers = 2;
    for (int i = 0; i < 2; ++i) {
      auto* slot = new (&board_slots(board_)[i]) BoardSlot{};
      slot->cuinit_ns = kUnset;
      slot->cuinit_result = kUnsetResult;
    }
    int pipe_ends[2];
    ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
    lifeline_.reset(pipe_ends[0]);
    launcher_end_.reset(pipe_ends[1]);
    progress_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  }
  void TearDown() override { munmap(static_cast<void*>(board_), board_size_bytes(2)); }

  ForkedChild start(const char* argument) {
    return ForkedChild([this, argument] {
      // Parked first: the numbers that are wanted may be in use.
      const int board = fcntl(board_fd_.get(), F_DUPFD, 20);
      const int lifeline = fcntl(lifeline_.get(), F_DUPFD, 20);
      const int progress = fcntl(progress_.get(), F_DUPFD, 20);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      dup2(board, kBoardFd);
      dup2(lifeline, kLifelineFd);
      dup2(progress, kProgressFd);
      const std::string path = "LD_LIBRARY_PATH=" + folder_.path().string();
      const char* environment[] = {path.c_str(), nullptr};
      const char* arguments[] = {"rollcall-worker", argument, nullptr};
      execve(TEST_WORKER, const_cast<char**>(arguments), const_cast<char**>(environment));
      return 99;
    });
  }

  BoardSlot& slot(int worker) { return board_slots(board_)[worker]; }
  bool reaches(int worker, StageCode stage) {
    return eventually([&] { return slot(worker).stage.load(std::memory_order_acquire) >= stage; });
  }
  uint64_t progress_reports() {
    uint64_t count = 0;
    return read(progress_.get(), &count, sizeof count) == sizeof count ? count : 0;
  }

  test::TemporaryFolder folder_;
  Fd board_fd_, lifeline_, launcher_end_, progress_;
  BoardHeader* board_ = nullptr;
};

TEST_F(WorkerProgram, ReturnsAtOnceForTheBenchmark) {
  EXPECT_EQ(start("return-at-once").exit_code(), 0);
}

TEST_F(WorkerProgram, RefusesWhatNoLauncherWouldSay) {
  for (const char* argument : {"", "x", "1x", "2", "99999999999"}) {
    EXPECT_EQ(start(argument).exit_code(), kBadInvocation) << argument;
  }
  EXPECT_EQ(start(nullptr).exit_code(), kBadInvocation);
}

TEST_F(WorkerProgram, RefusesABoardThatIsNotItsOwn) {
  board_->magic = 1;
  EXPECT_EQ(start("0").exit_code(), kBadInvocation);
  board_->magic = kBoardMagic;
  board_->version = kBoardVersion + 1;
  EXPECT_EQ(start("0").exit_code(), kBadInvocation);
  board_->version = kBoardVersion;
  board_->workers = 1000;  // more than the memory has room for
  EXPECT_EQ(start("0").exit_code(), kBadInvocation);
}

TEST_F(WorkerProgram, WaitsAtTheGateAndThenAliveToBeDismissed) {
  ForkedChild worker = start("1");
  ASSERT_TRUE(reaches(1, kStageReady));
  EXPECT_TRUE(eventually([&] { return test::is_asleep(worker.pid()); }));
  EXPECT_EQ(slot(1).stage.load(), kStageReady);
  board_->gate.store(1);
  base::futex_wake(&board_->gate);
  ASSERT_TRUE(reaches(1, kStageFinished));
  EXPECT_EQ(kill(worker.pid(), 0), 0);
  slot(1).leave.store(1);
  base::futex_wake(&slot(1).leave);
  EXPECT_EQ(worker.exit_code(), 0);
  EXPECT_EQ(progress_reports(), 2U);  // ready, and finished
  EXPECT_EQ(slot(0).stage.load(), kStageNone);
}

TEST_F(WorkerProgram, WithoutADriverItSaysSoAndMeasuresNothing) {
  board_->gate.store(1);
  ForkedChild worker = start("0");
  ASSERT_TRUE(reaches(0, kStageFinished));
  EXPECT_NE(std::string(slot(0).error).find("load the driver: "), std::string::npos);
  EXPECT_EQ(slot(0).cuinit_ns, kUnset);
  EXPECT_EQ(slot(0).cuinit_result, kUnsetResult);
  EXPECT_GE(slot(0).finished_at_ns, slot(0).released_at_ns);
}

TEST_F(WorkerProgram, LeavesTheGateWhenItsLauncherIsGone) {
  ForkedChild at_the_gate = start("0");
  ASSERT_TRUE(reaches(0, kStageReady));
  launcher_end_.reset();
  EXPECT_EQ(at_the_gate.exit_code(), kLauncherGone);
}

TEST_F(WorkerProgram, LeavesUndismissedWhenItsLauncherIsGone) {
  board_->gate.store(1);
  ForkedChild finished = start("0");
  ASSERT_TRUE(reaches(0, kStageFinished));
  launcher_end_.reset();
  EXPECT_EQ(finished.exit_code(), kLauncherGone);
}

}  // namespace
}  // namespace rollcall::worker
