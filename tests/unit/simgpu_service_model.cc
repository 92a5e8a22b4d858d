// The timing model against hand-made schedules, in milliseconds of model time.
#include <gtest/gtest.h>

#include <vector>

#include "base/clock.h"
#include "simgpu/service_model.h"

namespace rollcall::simgpu {
namespace {

constexpr int64_t ms(double value) {
  return static_cast<int64_t>(value * static_cast<double>(base::kNsPerMs));
}

OperationCost cost(double parallel_ms, double serial_ms, double per_client_ms = 0,
                   double per_context_ms = 0) {
  OperationCost result;
  result.parallel_ms = parallel_ms;
  result.serial_ms = serial_ms;
  result.per_client_ms = per_client_ms;
  result.per_context_ms = per_context_ms;
  return result;
}

struct End {
  uint64_t owner;
  double at_ms;
  friend bool operator==(const End&, const End&) = default;
};

// Runs the model from event to event until it is idle.
std::vector<End> run(ServiceModel& model, Load load = {}) {
  std::vector<End> ends;
  while (const auto next = model.next_event_ns()) {
    while (const auto done = model.advance(*next, load)) {
      ends.push_back({done->owner, static_cast<double>(*next) / 1e6});
    }
  }
  return ends;
}

TEST(ServiceModel, IsIdleWithoutOperations) {
  ServiceModel model(1, 0, 0);
  EXPECT_FALSE(model.next_event_ns());
  EXPECT_FALSE(model.advance(ms(1000), {}));
}

TEST(ServiceModel, OneOperationTakesItsParallelThenItsSerialPart) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(100, 67), ms(5));
  EXPECT_EQ(model.next_event_ns(), ms(105));
  EXPECT_FALSE(model.advance(ms(171.9), {}));
  EXPECT_EQ(model.next_event_ns(), ms(172));
  EXPECT_EQ(run(model), (std::vector<End>{{1, 172}}));
  EXPECT_EQ(model.pending(), 0U);
}

TEST(ServiceModel, SerialPartsQueueInOrderOfArrivalAtTheLock) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(20, 10), 0);  // reaches the lock last
  model.submit(2, 0, cost(5, 10), 0);
  model.submit(3, 0, cost(5, 10), 0);  // ties are broken by submission
  EXPECT_EQ(run(model), (std::vector<End>{{2, 15}, {3, 25}, {1, 35}}));
}

TEST(ServiceModel, ParallelPartsOverlap) {
  ServiceModel model(1, 0, 0);
  for (uint64_t owner = 1; owner <= 3; ++owner) model.submit(owner, 0, cost(100, 1), 0);
  EXPECT_EQ(run(model), (std::vector<End>{{1, 101}, {2, 102}, {3, 103}}));
}

TEST(ServiceModel, AnOperationWithoutASerialPartDoesNotQueue) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(0, 1000), 0);
  model.submit(2, 0, cost(3, 0), 0);
  model.submit(3, 0, cost(0, 0), 0);
  EXPECT_EQ(run(model), (std::vector<End>{{3, 0}, {2, 3}, {1, 1000}}));
}

TEST(ServiceModel, TheLoadWhenTheLockIsTakenSetsThePrice) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(0, 10, 2, 3), 0);
  model.submit(2, 0, cost(0, 10, 2, 3), 0);
  EXPECT_FALSE(model.advance(0, {4, 1}));  // 10 + 2·4 + 3·1 = 21
  EXPECT_EQ(model.next_event_ns(), ms(21));
  EXPECT_EQ(model.advance(ms(21), {4, 1})->owner, 1U);
  // Its effect, one context more, is what the next one is priced by.
  EXPECT_FALSE(model.advance(ms(21), {4, 2}));
  EXPECT_EQ(model.next_event_ns(), ms(21 + 24));
}

TEST(ServiceModel, BeforeACrowdAnOperationCostsOneStepMore) {
  ServiceModel model(1, 0, 0);
  OperationCost stepped = cost(0, 10);
  stepped.crowd_waiting = 2;
  stepped.crowded_ms = 15;
  for (uint64_t owner = 1; owner <= 4; ++owner) model.submit(owner, 0, stepped, 0);
  // The first finds the lock free before anybody waits; the others leave 2, 1 and
  // 0 waiting behind them.
  EXPECT_EQ(run(model), (std::vector<End>{{1, 10}, {2, 35}, {3, 45}, {4, 55}}));
}

TEST(ServiceModel, AStepAloneIsStillSerial) {
  ServiceModel model(1, 0, 0);
  OperationCost stepped;
  stepped.crowd_waiting = 1;
  stepped.crowded_ms = 5;
  model.submit(1, 0, cost(0, 10), 0);
  model.submit(2, 0, stepped, 0);
  model.submit(3, 0, stepped, 0);
  // One waits behind the second, nobody behind the third.
  EXPECT_EQ(run(model), (std::vector<End>{{1, 10}, {2, 15}, {3, 15}}));
}

TEST(ServiceModel, ACostThatOnlyGrowsWithLoadIsStillSerial) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(0, 0, 5), 0);
  model.submit(2, 0, cost(0, 0, 5), 0);
  EXPECT_EQ(run(model, {2, 0}), (std::vector<End>{{1, 10}, {2, 20}}));
}

TEST(ServiceModel, ALateAdvanceDoesNotDelayTheQueue) {
  ServiceModel model(1, 0, 0);
  for (uint64_t owner = 1; owner <= 3; ++owner) model.submit(owner, 0, cost(0, 10), 0);
  EXPECT_EQ(model.advance(ms(25), {})->owner, 1U);
  EXPECT_EQ(model.advance(ms(25), {})->owner, 2U);
  EXPECT_FALSE(model.advance(ms(25), {}));
  EXPECT_EQ(model.next_event_ns(), ms(30));
}

TEST(ServiceModel, AnIdleLockStartsAtArrivalAndNotAtItsLastRelease) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(0, 10), 0);
  EXPECT_EQ(run(model), (std::vector<End>{{1, 10}}));
  model.submit(2, 0, cost(0, 10), ms(50));
  EXPECT_EQ(run(model), (std::vector<End>{{2, 60}}));
}

TEST(ServiceModel, OfEqualEndsTheLocksComesFirst) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(10, 0), 0);
  model.submit(2, 0, cost(0, 10), 0);
  EXPECT_EQ(run(model), (std::vector<End>{{2, 10}, {1, 10}}));
}

TEST(ServiceModel, TheAbandonedLeaveTheQueueAtNoCost) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(0, 10), 0);
  model.submit(2, 0, cost(0, 10), 0);
  model.submit(3, 0, cost(0, 10), 0);
  model.submit(4, 0, cost(50, 10), 0);
  EXPECT_FALSE(model.advance(0, {}));
  model.abandon(2);  // queued
  model.abandon(4);  // still in its parallel part
  EXPECT_EQ(run(model), (std::vector<End>{{1, 10}, {3, 20}}));
}

TEST(ServiceModel, TheAbandonedHolderKeepsTheLockToTheEndOfItsService) {
  ServiceModel model(1, 0, 0);
  model.submit(1, 0, cost(0, 10), 0);
  model.submit(2, 0, cost(0, 10), 0);
  EXPECT_FALSE(model.advance(0, {}));
  model.abandon(1);
  EXPECT_EQ(run(model), (std::vector<End>{{2, 20}}));
}

TEST(ServiceModel, TheTimeScaleMultipliesEveryPart) {
  ServiceModel model(0.1, 0, 0);
  model.submit(1, 0, cost(100, 50, 10), 0);
  EXPECT_EQ(run(model, {5, 0}), (std::vector<End>{{1, 20}}));
}

TEST(ServiceModel, JitterStaysInItsBoundsAndFollowsTheSeed) {
  const auto spans = [](uint64_t seed) {
    ServiceModel model(1, 0.1, seed);
    std::vector<double> result;
    int64_t now_ns = 0;
    for (int i = 0; i < 1000; ++i) {
      model.submit(1, 0, cost(100, 0), now_ns);
      const int64_t end_ns = *model.next_event_ns();
      EXPECT_TRUE(model.advance(end_ns, {}));
      result.push_back(static_cast<double>(end_ns - now_ns) / 1e6);
      now_ns = end_ns;
    }
    return result;
  };
  const std::vector<double> first = spans(7);
  double low = 1e9;
  double high = 0;
  double sum = 0;
  for (const double span : first) {
    low = std::min(low, span);
    high = std::max(high, span);
    sum += span;
  }
  EXPECT_GE(low, 90);
  EXPECT_LE(high, 110);
  EXPECT_LT(low, 91);  // the bounds are reached,
  EXPECT_GT(high, 109);
  EXPECT_NEAR(sum / 1000, 100, 1);  // and the mean is the profile's
  EXPECT_EQ(first, spans(7));
  EXPECT_NE(first, spans(8));
}

// The two conditions of the study in model time: 250 cuInit at once, then 250
// probes on one lock of the caller's or on fifty.
TEST(ServiceModel, FiftyLocksHideTheParallelPartsThatOneLockPays) {
  const auto span_s = [](uint64_t caches) {
    constexpr uint64_t kWorkers = 250;
    ServiceModel model(1, 0, 0);
    enum : uint64_t { kInit, kCreate, kDestroy };
    const OperationCost costs[] = {cost(100, 67), cost(23, 195), cost(12, 97)};
    std::vector<std::deque<uint64_t>> waiting(caches);
    std::vector<bool> held(caches);
    for (uint64_t worker = 0; worker < kWorkers; ++worker) model.submit(worker, kInit, costs[kInit], 0);
    int64_t now_ns = 0;
    const auto admit = [&](uint64_t cache) {
      if (held[cache] || waiting[cache].empty()) return;
      held[cache] = true;
      model.submit(waiting[cache].front(), kCreate, costs[kCreate], now_ns);
      waiting[cache].pop_front();
    };
    while (const auto next = model.next_event_ns()) {
      now_ns = *next;
      while (const auto done = model.advance(now_ns, {})) {
        const uint64_t cache = done->owner % caches;
        if (done->ticket == kInit) waiting[cache].push_back(done->owner);
        if (done->ticket == kCreate) model.submit(done->owner, kDestroy, costs[kDestroy], now_ns);
        if (done->ticket == kDestroy) held[cache] = false;
        admit(cache);
      }
    }
    return static_cast<double>(now_ns) / 1e9;
  };
  EXPECT_NEAR(span_s(1), 98.80, 1);
  EXPECT_NEAR(span_s(50), 89.91, 1);
}

}  // namespace
}  // namespace rollcall::simgpu
