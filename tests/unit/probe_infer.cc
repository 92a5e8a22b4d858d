// What a numbering is concluded from: given what was seen of a child, this view; and
// wherever it could be two things, "unknown".
#include <gtest/gtest.h>

#include "probe/infer.h"
#include "probe/stride.h"

namespace rollcall::probe {
namespace {

constexpr int64_t kHost = 4711;
constexpr int64_t kOwn = 18;

// A child with a second thread in a PID namespace of its own; nothing listed yet.
ViewObservation child() {
  ViewObservation seen;
  seen.own_namespace = true;
  seen.host_pid = kHost;
  seen.own_pid = kOwn;
  seen.host_thread_ids = {kHost, kHost + 1};
  seen.own_thread_ids = {kOwn, kOwn + 1};
  return seen;
}

ViewObservation listed(std::vector<int64_t> inside, std::vector<int64_t> outside) {
  ViewObservation seen = child();
  seen.new_inside = std::move(inside);
  seen.new_outside = std::move(outside);
  return seen;
}

struct Case {
  const char* name;
  ViewObservation seen;
  ViewKind view;
};

TEST(InferView, FromWhatWasListedInsideAndOutside) {
  const std::vector<Case> cases = {
      {"translated", listed({kOwn}, {kHost}), ViewKind::kTranslated},
      {"global", listed({kHost}, {kHost}), ViewKind::kGlobal},
      {"by a namespace above", listed({99'000}, {99'000}), ViewKind::kGlobal},
      {"thread id, global", listed({kHost + 1}, {kHost + 1}), ViewKind::kThreadIds},
      {"thread id, translated", listed({kOwn + 1}, {kHost + 1}), ViewKind::kThreadIds},
      {"the parent sees nothing", listed({kOwn}, {}), ViewKind::kTranslated},
      {"hidden from itself", listed({}, {kHost}), ViewKind::kUnknown},
      {"hidden from everybody", listed({}, {}), ViewKind::kUnknown},
      {"several new numbers", listed({kOwn, 5000}, {kHost}), ViewKind::kUnknown},
      {"several outside, its own among them", listed({kOwn}, {kHost, 5000}), ViewKind::kTranslated},
      {"several outside, not its own", listed({kOwn}, {5000, 5001}), ViewKind::kUnknown},
      {"two numbers that fit nothing", listed({99'000}, {99'001}), ViewKind::kUnknown},
      {"a number that nobody else sees", listed({99'000}, {}), ViewKind::kUnknown},
      {"translated inside, another outside", listed({kOwn}, {5000}), ViewKind::kUnknown},
      {"global inside, another outside", listed({kHost}, {5000}), ViewKind::kUnknown},
      {"thread id inside, another outside", listed({kHost + 1}, {5000}), ViewKind::kUnknown}};
  for (const Case& one : cases) {
    const ViewConclusion conclusion = infer_view(one.seen);
    EXPECT_EQ(conclusion.view, one.view) << one.name << ": " << conclusion.reason;
    EXPECT_EQ(conclusion.reason.empty(), one.view != ViewKind::kUnknown) << one.name;
  }
}

TEST(InferView, ANumberThatIsTwoThingsProvesNeither) {
  ViewObservation seen = listed({kOwn}, {kHost});
  seen.host_pid = kOwn;
  EXPECT_EQ(infer_view(seen).view, ViewKind::kUnknown);
  seen = listed({kOwn}, {kHost});
  seen.host_thread_ids.push_back(kOwn);
  EXPECT_EQ(infer_view(seen).view, ViewKind::kUnknown);
  seen = listed({kHost}, {kHost});
  seen.own_thread_ids.push_back(kHost);
  EXPECT_EQ(infer_view(seen).view, ViewKind::kUnknown);
}

TEST(InferView, WhatWasNotObservedIsUnknownWithItsReason) {
  EXPECT_EQ(infer_view({}).view, ViewKind::kUnknown);
  ViewObservation seen = listed({kOwn}, {kHost});
  seen.error = "cuInit returned 100";
  EXPECT_EQ(infer_view(seen), (ViewConclusion{ViewKind::kUnknown, "cuInit returned 100"}));
  seen = listed({kOwn}, {kHost});
  seen.host_pid.reset();
  EXPECT_EQ(infer_view(seen).view, ViewKind::kUnknown);
}

TEST(InferView, WithoutANamespaceOfItsOwnOnlyThreadIdsShow) {
  ViewObservation seen = listed({kHost}, {kHost});
  seen.own_namespace = false;
  seen.own_pid = kHost;
  seen.own_thread_ids = seen.host_thread_ids;
  EXPECT_EQ(infer_view(seen).view, ViewKind::kUnknown);
  seen.new_inside = seen.new_outside = {kHost + 1};
  EXPECT_EQ(infer_view(seen).view, ViewKind::kThreadIds);
}

TEST(ListedAsItself, OnlyWhereItWasSeen) {
  ViewObservation seen = listed({kOwn}, {});
  EXPECT_EQ(listed_as_itself(seen), true);
  seen.new_inside = {kOwn, 5000};
  EXPECT_EQ(listed_as_itself(seen), true);
  seen.new_inside = {5000};
  EXPECT_EQ(listed_as_itself(seen), false);
  seen.new_inside = {5000, 5001};  // it may be hidden, and these be others'
  EXPECT_EQ(listed_as_itself(seen), std::nullopt);
  seen.new_inside = {kOwn + 1};  // the id of its thread
  EXPECT_EQ(listed_as_itself(seen), std::nullopt);
  seen.new_inside = {};
  EXPECT_EQ(listed_as_itself(seen), std::nullopt);
  seen.new_inside = {kOwn};
  seen.error = "gone";
  EXPECT_EQ(listed_as_itself(seen), std::nullopt);
}

TEST(CameAndWent, OnlyWhatWasThereInBetween) {
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(came_and_went({1, 2}, {1, 2, 4, 3, 3}, {2}), (Numbers{3, 4}));
  EXPECT_EQ(came_and_went({}, {5}, {5}), Numbers{});  // another one's: it stayed
  EXPECT_EQ(came_and_went({5}, {}, {}), Numbers{});
}

std::vector<unsigned char> written(size_t bytes) {
  std::vector<unsigned char> buffer(4096, kSentinel);
  std::fill_n(buffer.begin(), bytes, static_cast<unsigned char>(0));
  return buffer;
}

TEST(Stride, IsWhatWasOverwrittenPerEntry) {
  EXPECT_EQ(measured_stride(written(16), 1), 16);
  EXPECT_EQ(measured_stride(written(3 * 24), 3), 24);
  EXPECT_EQ(measured_stride(written(2 * 32), 2), 32);
  EXPECT_EQ(measured_stride(written(2 * 24 - 4), 2), 24);  // the last entry ends with padding
}

TEST(Stride, WhatFitsNoEntryIsNotKnown) {
  EXPECT_EQ(measured_stride(written(0), 0), std::nullopt);
  EXPECT_EQ(measured_stride(written(0), 1), std::nullopt);
  EXPECT_EQ(measured_stride(written(40), 3), std::nullopt);
  EXPECT_EQ(measured_stride(written(8), 1), std::nullopt);
  EXPECT_EQ(measured_stride(written(4096), 1), std::nullopt);  // a driver that clears all of it
}

}  // namespace
}  // namespace rollcall::probe
