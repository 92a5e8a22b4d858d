// Snapshot difference against the plainest reading of its description.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

#include "shim/snapshot_diff.h"

namespace rollcall::property {
namespace {

using shim::Reason;
using shim::SnapshotDiff;
using Pids = std::vector<unsigned>;

// Few different ones, so that the lists overlap.
rc::Gen<Pids> any_list() {
  return rc::gen::container<Pids>(rc::gen::inRange(1U, 20U));
}

SnapshotDiff diff(const Pids& before, const Pids& after) {
  return shim::snapshot_diff(before.data(), before.size(), after.data(), after.size());
}

TEST(SnapshotDifference, IsTheFirstOfThoseAfterThatWasNotThereBefore) {
  EXPECT_TRUE(rc::check("as the naive reference", [] {
    const Pids before = *any_list();
    const Pids after = *any_list();
    const SnapshotDiff found = diff(before, after);
    if (before.size() == after.size()) {
      RC_ASSERT(found.reason == Reason::kEqualCounts);
      return;
    }
    const std::set<unsigned> known(before.begin(), before.end());
    const auto first =
        std::find_if(after.begin(), after.end(), [&](unsigned pid) { return known.count(pid) == 0; });
    RC_CLASSIFY(first == after.end(), "nobody new");
    RC_ASSERT(found.reason == (first == after.end() ? Reason::kNoNewPid : Reason::kNone));
    if (first != after.end()) RC_ASSERT(found.pid == *first);
  }));
}

TEST(SnapshotDifference, IsRightWhereNobodyElseCameOrWent) {
  EXPECT_TRUE(rc::check("one more in the list is me", [] {
    const auto others = *rc::gen::container<std::set<unsigned>>(rc::gen::inRange(2U, 1000U));
    const Pids before(others.begin(), others.end());
    Pids after = before;
    const unsigned me = 1;
    after.insert(after.begin() + static_cast<long>(*rc::gen::inRange<size_t>(0, before.size() + 1)), me);
    RC_ASSERT(diff(before, after).reason == Reason::kNone);
    RC_ASSERT(diff(before, after).pid == me);
  }));
}

TEST(SnapshotDifference, DoesNotDependOnTheOrderBefore) {
  EXPECT_TRUE(rc::check("any order before gives the same", [] {
    const Pids before = *any_list();
    const Pids after = *any_list();
    Pids shuffled = before;
    std::reverse(shuffled.begin(), shuffled.end());
    RC_ASSERT(diff(before, after).reason == diff(shuffled, after).reason);
    RC_ASSERT(diff(before, after).pid == diff(shuffled, after).pid);
  }));
}

}  // namespace
}  // namespace rollcall::property
