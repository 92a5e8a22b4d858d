// The allocation challenge on a device that a test drives by hand: each test says what
// the processes on it do between two calls of the driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "hostpid/challenge.h"

namespace rollcall::hostpid {
namespace {

constexpr uint64_t kContextBytes = 518ULL << 20;
constexpr uint32_t kOwn = 100;
constexpr uint32_t kRounds = kChallengeRule.winning_rounds;

struct Device {
  uint32_t own = kOwn;
  bool own_listed = true;
  uint64_t held = 0;                  // by the challenge
  std::vector<ListedProcess> others;  // in the order in which they are listed, after the own
  uint64_t free_bytes = 64ULL << 30;
  bool free_known = true;
  int64_t now_ns = 0;
  int64_t round_ns = 1000;      // that an allocation takes
  std::vector<uint32_t> words;  // the random ones, over and over; none: 0, 7, 14 …
  bool random_fails = false;
  ListResult list_result = ListResult::kOk;
  AllocateResult allocate_result = AllocateResult::kOk;
  bool release_fails = false;

  size_t draws = 0;
  size_t lists = 0;
  uint64_t held_at_last_list = 0;
  size_t allocations = 0;
  size_t releases = 0;
  std::vector<uint64_t> asked;
  std::function<void(Device&)> before_list;                         // `lists` counts those before
  std::function<void(Device&, std::vector<ListedProcess>&)> alter;  // what the list shows
};

Device& of(void* self) {
  return *static_cast<Device*>(self);
}

ChallengeDriver driver_of(Device& device) {
  ChallengeDriver driver;
  driver.self = &device;
  driver.list = [](void* self, ListedProcess* entries, size_t* count) {
    Device& d = of(self);
    if (d.before_list) d.before_list(d);
    std::vector<ListedProcess> list;
    if (d.own_listed) list.push_back({d.own, kContextBytes + d.held});
    list.insert(list.end(), d.others.begin(), d.others.end());
    if (d.alter) d.alter(d, list);
    ++d.lists;
    d.held_at_last_list = d.held;
    *count = list.size();
    std::copy(list.begin(), list.end(), entries);
    return d.list_result;
  };
  driver.allocate = [](void* self, uint64_t bytes, uint64_t* pointer) {
    Device& d = of(self);
    d.asked.push_back(bytes);
    d.now_ns += d.round_ns;
    if (d.allocate_result != AllocateResult::kOk) return d.allocate_result;
    EXPECT_EQ(d.held, 0U) << "one allocation at a time";
    d.held = bytes;
    *pointer = 0x7f0000000000 + ++d.allocations;
    return AllocateResult::kOk;
  };
  driver.release = [](void* self, uint64_t pointer) {
    Device& d = of(self);
    EXPECT_EQ(pointer, 0x7f0000000000 + d.allocations);
    ++d.releases;
    if (d.release_fails) return false;
    d.held = 0;
    return true;
  };
  driver.free_bytes = [](void* self, uint64_t* bytes) {
    EXPECT_EQ(of(self).held, 0U) << "what is held is not free";
    *bytes = of(self).free_bytes;
    return of(self).free_known;
  };
  return driver;
}

ChallengeResult run(Device& device, const ChallengeRule& rule = kChallengeRule,
                    int64_t deadline_ns = INT64_MAX) {
  Clock clock;
  clock.self = &device;
  clock.now_ns = [](void* self) { return of(self).now_ns; };
  RandomSource random;
  random.self = &device;
  random.fill = [](void* self, void* bytes, size_t size) {
    Device& d = of(self);
    EXPECT_EQ(d.lists, d.asked.size() + 1) << "drawn before the list that must not know it";
    const uint32_t word =
        d.words.empty() ? static_cast<uint32_t>(7 * d.draws) : d.words[d.draws % d.words.size()];
    ++d.draws;
    EXPECT_EQ(size, sizeof word);
    memcpy(bytes, &word, sizeof word);
    return !d.random_fails;
  };
  const auto memory = std::make_unique<ChallengeMemory>();
  memset(static_cast<void*>(memory.get()), 0xA5, sizeof *memory);  // contents do not matter
  const ChallengeResult result = challenge(rule, driver_of(device), clock, random, deadline_ns, memory.get());
  EXPECT_EQ(device.allocations, device.releases) << "each allocation is given back, once";
  EXPECT_TRUE(device.held == 0 || device.release_fails);
  EXPECT_EQ(result.pid != 0, result.reason == Reason::kNone);
  return result;
}

void expect_fails(Device& device, Reason reason) {
  const ChallengeResult result = run(device);
  EXPECT_STREQ(to_text(result.reason), to_text(reason));
}

// What a neighbour that copies the challenge holds.
void copy_own(Device& device, size_t other) {
  device.others.at(other).used_bytes = kContextBytes + device.held;
}

// The neighbour's change since the last list is the own one's.
void move_along(Device& device, size_t other) {
  device.others.at(other).used_bytes += device.held - device.held_at_last_list;
}

// Words with which the amounts are 1, 33, 1, 33 … steps.
const std::vector<uint32_t> kFromEndToEnd = {0, 31};
// 32, 1, 33, 1 …
const std::vector<uint32_t> kFromTheTopDown = {31, 0};

TEST(Challenge, FindsTheOwnEntryAmongQuietOnes) {
  Device device;
  device.others = {{7, kContextBytes}, {4000000, 0}, {8, 3 * kContextBytes}};
  const ChallengeResult result = run(device);
  EXPECT_EQ(result.reason, Reason::kNone);
  EXPECT_EQ(result.pid, kOwn);
  EXPECT_EQ(result.rounds, kRounds);
  EXPECT_EQ(device.lists, kRounds + 1) << "the last list of a round is the first of the next";
  EXPECT_EQ(device.allocations, kRounds);
}

TEST(Challenge, FindsTheOwnEntryInAnyOrderOfTheList) {
  Device device;
  for (uint32_t pid = 1; pid < 250; ++pid) device.others.push_back({(pid * 37) % 257 + 1000, kContextBytes});
  device.alter = [](Device& d, std::vector<ListedProcess>& list) {
    std::rotate(list.begin(), list.begin() + static_cast<long>(d.lists * 31 % list.size()), list.end());
  };
  EXPECT_EQ(run(device).pid, kOwn);
}

// The amounts of a challenge with these words.
std::vector<uint64_t> steps_asked(std::vector<uint32_t> words) {
  const auto rounds = static_cast<uint32_t>(words.size());
  Device device;
  device.words = std::move(words);
  EXPECT_EQ(run(device, {32, rounds, rounds}).pid, kOwn);
  std::vector<uint64_t> steps;
  for (const uint64_t bytes : device.asked) {
    EXPECT_EQ(bytes % kStepBytes, 0U);
    steps.push_back(bytes / kStepBytes);
  }
  return steps;
}

TEST(Challenge, EveryAmountButTheLastOneIsDrawnByOneOfThirtyTwoWords) {
  for (uint64_t last = 1; last <= 33; ++last) {
    std::vector<bool> drawn(34);
    for (uint32_t word = 0; word < 32; ++word) {
      // 33 cannot be first, since nothing is held before it.
      std::vector<uint32_t> words = {static_cast<uint32_t>(last - 1), word + 32 * 99};
      if (last == 33) words = {0, 31, word};
      const std::vector<uint64_t> steps = steps_asked(words);
      ASSERT_EQ(steps.size(), words.size());
      ASSERT_EQ(steps[steps.size() - 2], last);
      const uint64_t next = steps.back();
      ASSERT_TRUE(next >= 1 && next <= 33 && next != last) << next << " after " << last;
      EXPECT_FALSE(drawn[next]) << next << " after " << last << " twice";
      drawn[next] = true;
    }
  }
}

TEST(Challenge, TheFirstAmountIsOneOfThirtyTwo) {
  for (uint32_t word = 0; word < 32; ++word) EXPECT_EQ(steps_asked({word}).front(), word + 1);
}

TEST(Challenge, EndsOnceNobodyCanWinAnyMore) {
  Device device;
  device.own_listed = false;
  EXPECT_EQ(run(device).rounds, kChallengeRule.max_rounds - kRounds + 1);
  EXPECT_EQ(device.held, 0U);
}

TEST(Challenge, StillFindsAnEntryThatAppearsAsLateAsIsPossible) {
  Device device;
  device.own_listed = false;
  const uint32_t first_answered = kChallengeRule.max_rounds - kRounds;  // counted from 0
  device.before_list = [=](Device& d) { d.own_listed = d.lists >= first_answered; };
  const ChallengeResult result = run(device);
  EXPECT_EQ(result.pid, kOwn);
  EXPECT_EQ(result.rounds, kChallengeRule.max_rounds);

  Device later;
  later.own_listed = false;
  later.before_list = [=](Device& d) { d.own_listed = d.lists >= first_answered + 1; };
  EXPECT_EQ(run(later).reason, Reason::kNoCandidate);
}

TEST(Challenge, OneMissStartsTheRowAnew) {
  Device device;
  // The application itself allocates in the last round before the row is full.
  device.alter = [](Device& d, std::vector<ListedProcess>& list) {
    if (d.lists >= kRounds) list[0].used_bytes += kStepBytes;
  };
  const ChallengeResult result = run(device);
  EXPECT_EQ(result.pid, kOwn);
  EXPECT_EQ(result.rounds, 2 * kRounds);
}

TEST(Challenge, WhatTheApplicationTakesAndGivesBackSpoilsTwoRounds) {
  Device device;
  device.alter = [](Device& d, std::vector<ListedProcess>& list) {
    if (d.lists == kRounds) list[0].used_bytes += kStepBytes;
  };
  EXPECT_EQ(run(device).rounds, 2 * kRounds + 1);
}

TEST(Challenge, AnEntryMissingFromOneListHasMissedBothItsRounds) {
  const struct {
    size_t list;
    uint32_t rounds;
  } cases[] = {
      {0, 1 + kRounds},
      {kRounds - 1, kRounds + kRounds},
      {kRounds, kRounds + 1 + kRounds},
  };
  for (const auto& expected : cases) {
    Device device;
    device.before_list = [&](Device& d) { d.own_listed = d.lists != expected.list; };
    const ChallengeResult result = run(device);
    EXPECT_EQ(result.pid, kOwn);
    EXPECT_EQ(result.rounds, expected.rounds);
  }
}

TEST(Challenge, WhoOnlyRisesAlongOrOnlyFallsAlongDoesNotAnswer) {
  for (const bool rises : {true, false}) {
    Device device;
    device.own_listed = false;
    device.words = kFromEndToEnd;
    device.others = {{7, 100 * kContextBytes}};
    device.before_list = [=](Device& d) {
      if ((d.held > d.held_at_last_list) == rises) move_along(d, 0);
    };
    expect_fails(device, Reason::kNoCandidate);
  }
}

TEST(Challenge, WhoFallsWhereItRisesDoesNotAnswer) {
  Device device;
  device.own_listed = false;
  device.others = {{7, kContextBytes}};
  device.before_list = [](Device& d) { d.others[0].used_bytes = kContextBytes - d.held; };
  expect_fails(device, Reason::kNoCandidate);
}

TEST(Challenge, WhoRisesByAllThatIsHeldDoesNotAnswer) {
  Device device;
  device.own_listed = false;
  device.others = {{7, kContextBytes}};
  device.before_list = [](Device& d) { d.others[0].used_bytes += d.held; };
  expect_fails(device, Reason::kNoCandidate);
}

TEST(Challenge, OneStepTooManyOrTooFewIsNoAnswer) {
  for (const int64_t off : {-1, 1}) {
    Device device;
    device.own_listed = false;
    device.others = {{7, kContextBytes}};
    device.before_list = [=](Device& d) {
      if (d.lists != 0) move_along(d, 0);
      d.others[0].used_bytes += off * static_cast<int64_t>(kStepBytes);
    };
    expect_fails(device, Reason::kNoCandidate);
  }
}

TEST(Challenge, ASumThatRunsOverIsNoAnswer) {
  Device device;
  device.own_listed = false;
  device.words = kFromEndToEnd;
  device.others = {{7, 0}};
  device.before_list = [](Device& d) { d.others[0].used_bytes = d.held - 2 * kStepBytes; };
  expect_fails(device, Reason::kNoCandidate);
}

// 32 steps, then one: a neighbour as far below "not told" as the own amount is below 32.
TEST(Challenge, AFigureThatIsNotToldIsNoNumberToCountWith) {
  for (const size_t told_at : {0U, 2U}) {
    Device device;
    device.own_listed = false;
    device.words = kFromTheTopDown;
    device.others = {{7, 0}, {8, 0}};
    device.before_list = [=](Device& d) {
      const bool told = d.lists == told_at;  // the other figures are "not told"
      d.others[0].used_bytes = told ? kMemoryUnknown - (32 * kStepBytes - d.held) : kMemoryUnknown;
    };
    const ChallengeRule one_answer{32, 1, 2};
    EXPECT_EQ(run(device, one_answer).reason, Reason::kNoCandidate) << told_at;
  }
}

TEST(Challenge, NobodyWinsWithTheAnswersOfAnother) {
  Device device;
  device.own_listed = false;
  device.others = {{7, 100 * kContextBytes}, {8, 100 * kContextBytes}};
  device.before_list = [](Device& d) { move_along(d, d.lists % 2); };  // one in every round, but in turn
  expect_fails(device, Reason::kNoCandidate);
}

TEST(Challenge, ACountBelongsToAPidWhereverItStands) {
  Device device;
  device.before_list = [](Device& d) {  // newcomers before it, and gone again
    d.others.clear();
    for (uint32_t pid = 1; pid <= d.lists % 5; ++pid) d.others.push_back({pid, kContextBytes});
  };
  const ChallengeResult result = run(device);
  EXPECT_EQ(result.pid, kOwn);
  EXPECT_EQ(result.rounds, kRounds);
}

TEST(Challenge, ANeighbourThatAnsweredMostRoundsDoesNotHideTheOwn) {
  Device device;
  device.others = {{7, kContextBytes}};
  device.before_list = [](Device& d) {
    if (d.asked.size() < kRounds) copy_own(d, 0);
  };
  EXPECT_EQ(run(device).pid, kOwn);
}

TEST(Challenge, TwoThatAnsweredEveryRoundAreTooMany) {
  Device device;
  device.others = {{7, kContextBytes}};
  device.before_list = [](Device& d) { copy_own(d, 0); };
  expect_fails(device, Reason::kManyCandidates);
}

TEST(Challenge, AFullListIsTruncated) {
  Device device;
  for (uint32_t i = 1; i < kMaxListed - 1; ++i) device.others.push_back({1000 + i, kContextBytes});
  EXPECT_EQ(run(device).pid, kOwn) << "949 are whole";
  Device full = device;
  full.lists = full.allocations = full.releases = 0;
  full.asked.clear();
  full.others.push_back({5000, kContextBytes});
  expect_fails(full, Reason::kListTruncated);
  EXPECT_TRUE(full.asked.empty());
}

TEST(Challenge, AListThatFailsEndsItWithItsOwnReasonAndNothingHeld) {
  const std::vector<std::pair<ListResult, Reason>> cases = {
      {ListResult::kFailed, Reason::kListFailed},
      {ListResult::kTruncated, Reason::kListTruncated},
  };
  for (const auto& [listed, reason] : cases) {
    for (const size_t at : {0U, 1U, 2U, 5U, 6U}) {
      Device device;
      device.before_list = [at, failure = listed](Device& d) {
        if (d.lists == at) d.list_result = failure;
      };
      expect_fails(device, reason);
      EXPECT_EQ(device.held, 0U);
      EXPECT_EQ(device.lists, at + 1) << "nothing is tried after it";
    }
  }
}

TEST(Challenge, OnePidTwiceIsAContradiction) {
  for (const size_t at : {0U, 1U, 2U}) {
    Device device;
    device.others = {{9, kContextBytes}, {7, kContextBytes}};
    device.alter = [at](Device& d, std::vector<ListedProcess>& list) {
      if (d.lists == at) list.push_back({9, 0});
    };
    expect_fails(device, Reason::kListContradicts);
    EXPECT_EQ(device.held, 0U);
  }
}

TEST(Challenge, MemoryThatNobodyTellsIsUnsupported) {
  Device device;
  device.others = {{7, kMemoryUnknown}, {8, kMemoryUnknown}};
  device.alter = [](Device&, std::vector<ListedProcess>& list) { list[0].used_bytes = kMemoryUnknown; };
  expect_fails(device, Reason::kMemoryNotReported);
  EXPECT_TRUE(device.asked.empty());
}

TEST(Challenge, OneNeighbourWhoseMemoryIsNotToldDoesNotSpoilIt) {
  Device device;
  device.others = {{7, kMemoryUnknown}};
  EXPECT_EQ(run(device).pid, kOwn);
}

TEST(Challenge, AnOwnEntryWhoseMemoryIsNotToldIsNoCandidate) {
  Device device;
  device.others = {{7, kContextBytes}};
  device.alter = [](Device&, std::vector<ListedProcess>& list) { list[0].used_bytes = kMemoryUnknown; };
  expect_fails(device, Reason::kNoCandidate);
}

TEST(Challenge, NobodyIsFoundUnderANumberThatNoProcessHas) {
  for (const uint32_t pid : {0U, static_cast<uint32_t>(INT_MAX) + 1, UINT32_MAX}) {
    Device device;
    device.own = pid;
    device.others = {{7, kContextBytes}};
    expect_fails(device, Reason::kNoCandidate);
  }
  Device device;
  device.others = {{0, 5}, {0, 6}, {7, kContextBytes}};
  EXPECT_EQ(run(device).pid, kOwn) << "processes without a number contradict nothing";
}

TEST(Challenge, AnEmptyListIsNoCandidate) {
  Device device;
  device.own_listed = false;
  expect_fails(device, Reason::kNoCandidate);
}

TEST(Challenge, WantsFourTimesItsLargestAllocationFree) {
  const uint64_t wanted = 264ULL << 20;
  Device device;
  device.free_bytes = wanted;
  EXPECT_EQ(run(device).pid, kOwn);
  Device less;
  less.free_bytes = wanted - 1;
  expect_fails(less, Reason::kNotEnoughMemory);
  EXPECT_TRUE(less.asked.empty());
  Device unknown;
  unknown.free_known = false;
  expect_fails(unknown, Reason::kNotEnoughMemory);
  EXPECT_TRUE(unknown.asked.empty());
}

TEST(Challenge, AsksBeforeEveryRoundWhetherEnoughIsFree) {
  Device device;
  device.before_list = [](Device& d) {
    if (d.lists == 2) d.free_bytes = 0;  // the end of the second round
  };
  expect_fails(device, Reason::kNotEnoughMemory);
  EXPECT_EQ(device.asked.size(), 2U);
}

TEST(Challenge, AnAllocationThatFailsEndsIt) {
  Device none;
  none.allocate_result = AllocateResult::kNoMemory;
  expect_fails(none, Reason::kNotEnoughMemory);
  Device broken;
  broken.allocate_result = AllocateResult::kFailed;
  expect_fails(broken, Reason::kContextFailed);
  // With the one before it freed already.
  Device later;
  later.before_list = [](Device& d) {
    if (d.lists == 2) d.allocate_result = AllocateResult::kNoMemory;
  };
  expect_fails(later, Reason::kNotEnoughMemory);
  EXPECT_EQ(later.releases, 2U);
  EXPECT_EQ(later.asked.size(), 3U);
}

TEST(Challenge, MemoryThatIsNotTakenBackIsAskedForOnceAndReported) {
  Device device;
  device.release_fails = true;
  expect_fails(device, Reason::kMemoryNotFreed);
  EXPECT_EQ(device.releases, 1U);
  EXPECT_EQ(device.asked.size(), 1U) << "nothing is tried after it";
  EXPECT_EQ(device.lists, 2U);

  Device last;
  last.before_list = [](Device& d) { d.release_fails = d.lists == kRounds; };
  expect_fails(last, Reason::kMemoryNotFreed);
  EXPECT_EQ(last.releases, kRounds);

  Device both;
  both.release_fails = true;
  both.before_list = [](Device& d) {
    if (d.held != 0) d.list_result = ListResult::kFailed;
  };
  expect_fails(both, Reason::kMemoryNotFreed);
}

TEST(Challenge, WithoutRandomnessNothingIsAllocated) {
  Device device;
  device.random_fails = true;
  expect_fails(device, Reason::kNoRandomness);
  EXPECT_TRUE(device.asked.empty());
}

TEST(Challenge, NoRoundBeginsOnceTheDeadlineHasPassed) {
  Device device;
  device.own_listed = false;
  const ChallengeResult result = run(device, kChallengeRule, 3 * device.round_ns);
  EXPECT_EQ(result.reason, Reason::kChallengeTimeout);
  EXPECT_EQ(result.rounds, 3U);
  EXPECT_EQ(device.asked.size(), 3U);

  Device late;
  late.now_ns = 10;
  EXPECT_EQ(run(late, kChallengeRule, 10).reason, Reason::kChallengeTimeout);
  EXPECT_EQ(late.lists, 0U);
}

TEST(Challenge, AnAnswerInTimeStandsEvenIfTheDeadlinePassedMeanwhile) {
  Device device;
  EXPECT_EQ(run(device, kChallengeRule, kRounds * device.round_ns - 1).pid, kOwn);
}

TEST(Challenge, ARuleNeedsAPowerOfTwoAndRoundsEnough) {
  EXPECT_TRUE(is_valid({1, 1, 1}));
  EXPECT_FALSE(is_valid({0, 1, 1}));
  EXPECT_FALSE(is_valid({24, 1, 1}));
  EXPECT_FALSE(is_valid({33, 1, 1}));
  EXPECT_FALSE(is_valid({32, 0, 1}));
  EXPECT_FALSE(is_valid({32, 7, 6}));
}

}  // namespace
}  // namespace rollcall::hostpid
