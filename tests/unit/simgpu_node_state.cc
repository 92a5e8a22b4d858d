// What exists on a node: who is listed, in which order, with how much memory.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "simgpu/node_state.h"

namespace rollcall::simgpu {
namespace {

constexpr uint64_t kMib = 1 << 20;
constexpr DeviceSizes kSizes{2, 2000 * kMib, 518 * kMib, 2 * kMib};

class Node : public testing::Test {
 protected:
  Node() {
    for (const uint64_t process : {10, 11, 12}) {
      state_.add_process(process);
      state_.initialise(process);
    }
  }
  uint64_t context(uint64_t process, unsigned gpu = 0) {
    const auto created = state_.create_context(process, gpu);
    EXPECT_EQ(created.status, Status::kOk);
    return created.name;
  }
  using Rows = std::vector<std::pair<uint64_t, uint64_t>>;  // process, MiB
  Rows rows(unsigned gpu = 0) {
    Rows result;
    for (const auto& listed : state_.list(gpu)) result.emplace_back(listed.process, listed.used_bytes / kMib);
    return result;
  }
  NodeState state_{kSizes};
};

TEST_F(Node, ListsNobodyAfterCuInitAlone) {
  EXPECT_EQ(rows(), Rows());
  EXPECT_EQ(state_.initialised_processes(), 3);
}

TEST_F(Node, ListsByOrderOfContextCreation) {
  context(12);
  context(10);
  context(11);
  EXPECT_EQ(rows(), (Rows{{12, 518}, {10, 518}, {11, 518}}));
  EXPECT_EQ(rows(1), Rows());
}

TEST_F(Node, ListsAProcessFromItsFirstContextUntilItsLastIsGone) {
  const uint64_t first = context(10);
  context(11);
  const uint64_t second = context(10);
  EXPECT_EQ(rows(), (Rows{{10, 1036}, {11, 518}}));
  EXPECT_EQ(state_.destroy_context(10, first), Status::kOk);
  EXPECT_EQ(rows(), (Rows{{10, 518}, {11, 518}}));
  EXPECT_EQ(state_.destroy_context(10, second), Status::kOk);
  EXPECT_EQ(rows(), (Rows{{11, 518}}));
  context(10);  // after a gap it is the newest
  EXPECT_EQ(rows(), (Rows{{11, 518}, {10, 518}}));
}

TEST_F(Node, RoundsAllocationsUpToTheGranularity) {
  const uint64_t in = context(10);
  const auto one_byte = state_.allocate(10, in, 1);
  EXPECT_EQ(rows(), (Rows{{10, 520}}));
  state_.allocate(10, in, 2 * kMib);
  EXPECT_EQ(rows(), (Rows{{10, 522}}));
  state_.allocate(10, in, 2 * kMib + 1);
  EXPECT_EQ(rows(), (Rows{{10, 526}}));
  EXPECT_EQ(state_.release(10, one_byte.name), Status::kOk);
  EXPECT_EQ(rows(), (Rows{{10, 524}}));
}

TEST_F(Node, RefusesWhatDoesNotFit) {
  for (const uint64_t process : {10, 11, 12}) context(process);  // 1554 of 2000 MiB
  EXPECT_EQ(state_.create_context(10, 0).status, Status::kOutOfMemory);
  EXPECT_EQ(state_.create_context(10, 1).status, Status::kOk);  // the other GPU is empty
  const uint64_t in = context(10, 1);
  EXPECT_EQ(state_.allocate(10, in, UINT64_MAX).status, Status::kOutOfMemory);
  EXPECT_EQ(state_.allocate(10, in, 964 * kMib + 1).status, Status::kOutOfMemory);
  EXPECT_EQ(state_.allocate(10, in, 964 * kMib).status, Status::kOk);
  EXPECT_EQ(state_.free_bytes(1), 0U);
  EXPECT_EQ(state_.total_bytes(), 2000 * kMib);
}

TEST_F(Node, RefusesRoundingUpBeyondTheDevice) {
  NodeState odd({1, 3 * kMib, 0, 2 * kMib});
  odd.add_process(1);
  odd.initialise(1);
  const auto in = odd.create_context(1, 0).name;
  EXPECT_EQ(odd.allocate(1, in, 2 * kMib + 1).status, Status::kOutOfMemory);
}

TEST_F(Node, TakesBackWhatADeadProcessHad) {
  const uint64_t in = context(10);
  state_.allocate(10, in, 100 * kMib);
  context(10, 1);
  context(11);
  state_.remove_process(10);
  EXPECT_EQ(rows(), (Rows{{11, 518}}));
  EXPECT_EQ(rows(1), Rows());
  EXPECT_EQ(state_.free_bytes(0), (2000 - 518) * kMib);
  EXPECT_EQ(state_.free_bytes(1), 2000 * kMib);
  EXPECT_EQ(state_.contexts(), 1);
  EXPECT_EQ(state_.initialised_processes(), 2);
  state_.remove_process(10);  // once more is nothing
  EXPECT_EQ(state_.initialised_processes(), 2);
}

TEST_F(Node, AContextTakesItsAllocationsWithIt) {
  const uint64_t kept = context(10);
  const uint64_t gone = context(10);
  const auto survivor = state_.allocate(10, kept, 2 * kMib);
  const auto victim = state_.allocate(10, gone, 2 * kMib);
  state_.destroy_context(10, gone);
  EXPECT_EQ(rows(), (Rows{{10, 520}}));
  EXPECT_EQ(state_.release(10, victim.name), Status::kUnknownObject);
  EXPECT_EQ(state_.release(10, survivor.name), Status::kOk);
}

TEST_F(Node, KnowsWhoseContextAndMemoryItIs) {
  const uint64_t mine = context(10);
  const auto pointer = state_.allocate(10, mine, 1);
  EXPECT_EQ(state_.destroy_context(11, mine), Status::kUnknownObject);
  EXPECT_EQ(state_.allocate(11, mine, 1).status, Status::kUnknownObject);
  EXPECT_EQ(state_.release(11, pointer.name), Status::kUnknownObject);
  EXPECT_EQ(state_.release(10, pointer.name + 1), Status::kUnknownObject);
  EXPECT_EQ(state_.release(10, pointer.name), Status::kOk);
  EXPECT_EQ(state_.release(10, pointer.name), Status::kUnknownObject);
}

TEST_F(Node, NeedsCuInitAndAGpuThatIsThere) {
  state_.add_process(13);
  EXPECT_EQ(state_.create_context(13, 0).status, Status::kNotInitialized);
  EXPECT_EQ(state_.create_context(99, 0).status, Status::kNotInitialized);
  EXPECT_EQ(state_.create_context(10, 2).status, Status::kUnknownObject);
}

TEST(NodeBounds, AProcessHasAMostOfContextsAndAllocations) {
  NodeState state({1, uint64_t{1} << 50, 1, 1});
  state.add_process(1);
  state.initialise(1);
  uint64_t in = 0;
  for (size_t i = 0; i < kMaxContextsPerProcess; ++i) in = state.create_context(1, 0).name;
  EXPECT_EQ(state.create_context(1, 0).status, Status::kOutOfMemory);
  for (size_t i = 0; i < kMaxAllocationsPerProcess; ++i)
    ASSERT_EQ(state.allocate(1, in, 1).status, Status::kOk);
  EXPECT_EQ(state.allocate(1, in, 1).status, Status::kOutOfMemory);
}

}  // namespace
}  // namespace rollcall::simgpu
