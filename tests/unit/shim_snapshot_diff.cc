// The algorithm under study, with what it gets right and what it gets wrong.
#include <gtest/gtest.h>

#include <vector>

#include "shim/snapshot_diff.h"

namespace rollcall::shim {
namespace {

SnapshotDiff diff(const std::vector<unsigned>& before, const std::vector<unsigned>& after) {
  return snapshot_diff(before.data(), before.size(), after.data(), after.size());
}

void expect_pid(unsigned pid, const std::vector<unsigned>& before, const std::vector<unsigned>& after) {
  const SnapshotDiff result = diff(before, after);
  EXPECT_EQ(result.reason, Reason::kNone);
  EXPECT_EQ(result.pid, pid);
}

void expect_failure(Reason reason, const std::vector<unsigned>& before, const std::vector<unsigned>& after) {
  EXPECT_EQ(diff(before, after).reason, reason);
}

TEST(SnapshotDiff, AloneItFindsItself) {
  expect_pid(7, {}, {7});
  expect_pid(7, {1, 2}, {1, 2, 7});
}

TEST(SnapshotDiff, TheOrderOfTheOthersDoesNotMatter) {
  expect_pid(7, {1, 2, 3}, {3, 7, 1, 2});
}

TEST(SnapshotDiff, OfSeveralNewOnesTheFirstWinsWhoeverItIs) {
  expect_pid(9, {1}, {1, 9, 7});
  expect_pid(7, {1}, {7, 9, 1});
}

TEST(SnapshotDiff, ANeighbourThatLeftCancelsTheNewcomer) {
  expect_failure(Reason::kEqualCounts, {1, 2}, {1, 7});
  expect_failure(Reason::kEqualCounts, {1}, {7});
}

TEST(SnapshotDiff, NothingChangedIsEqualCountsToo) {
  expect_failure(Reason::kEqualCounts, {}, {});
  expect_failure(Reason::kEqualCounts, {1, 2}, {2, 1});
}

TEST(SnapshotDiff, FewerThanBeforeWithANewOneIsStillANewOne) {
  expect_pid(7, {1, 2, 3}, {1, 7});
}

TEST(SnapshotDiff, NobodyNewIsAFailure) {
  expect_failure(Reason::kNoNewPid, {1, 2, 3}, {1, 3});
  expect_failure(Reason::kNoNewPid, {1}, {});
  expect_failure(Reason::kNoNewPid, {1}, {1, 1});
}

}  // namespace
}  // namespace rollcall::shim
