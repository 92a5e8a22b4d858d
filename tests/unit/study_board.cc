// The launcher's side of the board, with a worker's side played by hand.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "base/futex.h"
#include "forked_child.h"
#include "study/board.h"

namespace rollcall::study {
namespace {

using evidence::Stage;
using evidence::WorkerRecord;
using test::ForkedChild;

class BoardTest : public testing::Test {
 protected:
  void SetUp() override {
    const size_t size = worker::board_size_bytes(3);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, board_.fd(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    theirs_ = static_cast<worker::BoardHeader*>(memory);
  }
  void TearDown() override { munmap(static_cast<void*>(theirs_), worker::board_size_bytes(3)); }
  worker::BoardSlot& slot(int i) { return worker::board_slots(theirs_)[i]; }
  WorkerRecord read(int i, int64_t gate_ns = 0) const {
    WorkerRecord record;
    board_.read(i, gate_ns, record);
    return record;
  }

  Board board_ = std::move(*Board::create(3, evidence::Exercise::kProbe, evidence::Workload::kContext));
  worker::BoardHeader* theirs_ = nullptr;
};

TEST_F(BoardTest, SaysWhatAWorkerMustKnow) {
  EXPECT_EQ(theirs_->magic, worker::kBoardMagic);
  EXPECT_EQ(theirs_->version, worker::kBoardVersion);
  EXPECT_EQ(theirs_->workers, 3U);
  EXPECT_EQ(theirs_->workload, static_cast<uint32_t>(worker::kWorkloadContext));
  EXPECT_EQ(theirs_->exercise, static_cast<uint32_t>(worker::kExerciseProbe));
  EXPECT_EQ(theirs_->gate.load(), 0U);
}

TEST_F(BoardTest, WhatWasNotPostedIsUnset) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read(i), WorkerRecord{});
    EXPECT_EQ(board_.finished_at_ns(i), worker::kUnset);
  }
}

TEST_F(BoardTest, DurationsAreCopiedAndMomentsCountFromTheGate) {
  worker::BoardSlot& mine = slot(1);
  mine.load_ns = 10;
  mine.released_at_ns = 1020;
  mine.resolve_ns = 30;
  mine.cuinit_ns = 40;
  mine.cuinit_result = 0;
  mine.context_ns = 50;
  mine.context_result = 2;
  mine.control_ns = 70;
  mine.control_result = 999;
  mine.finished_at_ns = 1060;
  std::strcpy(mine.error, "went wrong");
  mine.stage.store(worker::kStageFinished);
  const WorkerRecord record = read(1, 1000);
  EXPECT_EQ(record.stage, Stage::kFinished);
  EXPECT_EQ(record.load_ns, 10);
  EXPECT_EQ(record.released_ns, 20);
  EXPECT_EQ(record.resolve_ns, 30);
  EXPECT_EQ(record.cuinit_ns, 40);
  EXPECT_EQ(record.cuinit_result, 0);
  EXPECT_EQ(record.context_ns, 50);
  EXPECT_EQ(record.context_result, 2);
  EXPECT_EQ(record.control_ns, 70);
  EXPECT_EQ(record.control_result, 999);
  EXPECT_EQ(record.finished_ns, 60);
  EXPECT_EQ(record.error, "went wrong");
  EXPECT_EQ(board_.finished_at_ns(1), 1060);
  EXPECT_EQ(read(0), WorkerRecord{});
  EXPECT_EQ(read(2), WorkerRecord{});
}

TEST_F(BoardTest, EveryStageIsKnownAndAnInventedOneIsNone) {
  const Stage stages[] = {Stage::kNone,     Stage::kStarted,     Stage::kReady,
                          Stage::kReleased, Stage::kInitialised, Stage::kFinished};
  for (uint32_t code = 0; code < 6; ++code) {
    slot(0).stage.store(code);
    EXPECT_EQ(read(0).stage, stages[code]);
  }
  slot(0).stage.store(4711);
  EXPECT_EQ(read(0).stage, Stage::kNone);
}

TEST_F(BoardTest, AnErrorWithoutAnEndIsCutAtItsField) {
  // A worker that writes over everything from there to the next slot.
  const size_t start = offsetof(worker::BoardSlot, error);
  std::memset(reinterpret_cast<char*>(&slot(0)) + start, 'e', sizeof(worker::BoardSlot) - start);
  slot(1).stage.store(worker::kStageReady);
  EXPECT_EQ(read(0).error, std::string(sizeof slot(0).error, 'e'));
  EXPECT_EQ(read(1).error, "");
}

TEST_F(BoardTest, TheGateLetsEverybodyThrough) {
  std::vector<ForkedChild> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([this] {
      while (theirs_->gate.load() == 0) base::futex_wait(&theirs_->gate, 0, 3600 * base::kNsPerSecond);
      return 0;
    });
  }
  for (const ForkedChild& child : workers) {
    ASSERT_TRUE(test::eventually([&] { return test::is_asleep(child.pid()); }));
  }
  board_.open_gate();
  for (ForkedChild& child : workers) EXPECT_EQ(child.exit_code(), 0);
}

TEST_F(BoardTest, DismissingIsForOneWorker) {
  ForkedChild waiting([this] {
    while (slot(1).leave.load() == 0) base::futex_wait(&slot(1).leave, 0, 3600 * base::kNsPerSecond);
    return 0;
  });
  ASSERT_TRUE(test::eventually([&] { return test::is_asleep(waiting.pid()); }));
  board_.dismiss(1);
  EXPECT_EQ(waiting.exit_code(), 0);
  EXPECT_EQ(slot(0).leave.load(), 0U);
  EXPECT_EQ(slot(2).leave.load(), 0U);
}

TEST_F(BoardTest, CanBeMoved) {
  slot(2).stage.store(worker::kStageReady);
  const Board moved = std::move(board_);
  EXPECT_EQ(moved.stage(2), worker::kStageReady);
}

}  // namespace
}  // namespace rollcall::study
