// The rounds of the allocation challenge. Lists are sorted by PID, so that one pass
// over two of them tells who answered; counts lie beside the list they belong to and
// move on with it. Nothing is allocated on the host, and nothing is remembered of who is
// not in the latest list: an entry that went missing once has missed.
#include "hostpid/challenge.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace rollcall::hostpid {
namespace {

// How much must be free, in largest allocations.
constexpr uint64_t kHeadroom = 4;

struct List {
  ListedProcess* entries = nullptr;
  size_t count = 0;
};

bool by_pid(const ListedProcess& a, const ListedProcess& b) {
  return a.pid < b.pid;
}

// The driver mostly lists in an order that holds from call to call, so a list that is
// sorted already is the common case, and then one pass is all.
bool sort_distinct(const List& list) {
  const auto not_ascending = [](const ListedProcess& a, const ListedProcess& b) { return a.pid >= b.pid; };
  ListedProcess* const end = list.entries + list.count;
  if (std::adjacent_find(list.entries, end, not_ascending) == end) return true;
  std::sort(list.entries, end, by_pid);
  return std::adjacent_find(list.entries, end, not_ascending) == end;
}

Reason take_list(const ChallengeDriver& driver, List* list) {
  list->count = 0;
  size_t listed = 0;
  switch (driver.list(driver.self, list->entries, &listed)) {
    case ListResult::kOk:
      break;
    case ListResult::kFailed:
      return Reason::kListFailed;
    case ListResult::kTruncated:
      return Reason::kListTruncated;
  }
  if (listed >= kMaxListed) return Reason::kListTruncated;
  bool any_known = listed == 0;
  for (size_t i = 0; i < listed; ++i) {
    const ListedProcess& entry = list->entries[i];
    any_known = any_known || entry.used_bytes != kMemoryUnknown;
    // No process has such a number: several may stand for processes that the driver
    // would not name, and they contradict nothing.
    if (entry.pid == 0 || entry.pid > INT_MAX) continue;
    list->entries[list->count++] = entry;
  }
  if (!any_known) return Reason::kMemoryNotReported;
  return sort_distinct(*list) ? Reason::kNone : Reason::kListContradicts;
}

Reason has_headroom(const ChallengeDriver& driver, const ChallengeRule& rule) {
  uint64_t free_bytes = 0;
  if (!driver.free_bytes(driver.self, &free_bytes)) return Reason::kNotEnoughMemory;
  return free_bytes / kHeadroom >= largest_bytes(rule) ? Reason::kNone : Reason::kNotEnoughMemory;
}

// Every amount but the last one is as likely as any other: the number of choices divides
// the range of the word that it is cut from.
Reason draw_steps(const RandomSource& random, const ChallengeRule& rule, uint32_t last, uint32_t* steps) {
  uint32_t word = 0;
  if (!random.fill(random.self, &word, sizeof word)) return Reason::kNoRandomness;
  *steps = 1 + (word & (rule.choices - 1));
  if (last != 0 && *steps >= last) ++*steps;
  return Reason::kNone;
}

// What the challenge holds on the device. Never two allocations at once.
class Allocation {
 public:
  explicit Allocation(const ChallengeDriver& driver) : driver_(driver) {}

  Reason allocate(uint32_t steps) {
    switch (driver_.allocate(driver_.self, steps * kStepBytes, &pointer_)) {
      case AllocateResult::kOk:
        held_ = true;
        return Reason::kNone;
      case AllocateResult::kNoMemory:
        return Reason::kNotEnoughMemory;
      case AllocateResult::kFailed:
        break;
    }
    return Reason::kContextFailed;
  }

  // Asks once, and then takes it for gone either way.
  Reason release() {
    if (!held_) return Reason::kNone;
    held_ = false;
    return driver_.release(driver_.self, pointer_) ? Reason::kNone : Reason::kMemoryNotFreed;
  }

 private:
  const ChallengeDriver& driver_;
  uint64_t pointer_ = 0;
  bool held_ = false;
};

const ListedProcess* find_from(const List& list, size_t* at, uint32_t pid) {
  while (*at < list.count && list.entries[*at].pid < pid) ++*at;
  return *at < list.count && list.entries[*at].pid == pid ? &list.entries[*at] : nullptr;
}

// In which direction and by how much a figure changed.
struct Change {
  bool rise = false;
  uint64_t bytes = 0;
  bool operator==(const Change& other) const { return rise == other.rise && bytes == other.bytes; }
};

Change change(uint64_t before, uint64_t after) {
  return after > before ? Change{true, after - before} : Change{false, before - after};
}

bool answers(const ListedProcess& before, const ListedProcess& after, const Change& own) {
  return before.used_bytes != kMemoryUnknown && after.used_bytes != kMemoryUnknown &&
         change(before.used_bytes, after.used_bytes) == own;
}

struct Count {
  uint32_t longest = 0;
  size_t winners = 0;
  uint32_t winner = 0;
};

// Counts on from the one list's entries to the other's.
Count count_answers(const ChallengeRule& rule, const Change& own, const List& before,
                    const uint32_t* answered, const List& after, uint32_t* answered_now) {
  Count count;
  size_t in_before = 0;
  for (size_t i = 0; i < after.count; ++i) {
    const ListedProcess& now = after.entries[i];
    const ListedProcess* last = find_from(before, &in_before, now.pid);
    answered_now[i] = last != nullptr && answers(*last, now, own) ? answered[in_before] + 1 : 0;
    count.longest = std::max(count.longest, answered_now[i]);
    if (answered_now[i] < rule.winning_rounds) continue;
    ++count.winners;
    count.winner = now.pid;
  }
  return count;
}

// All of it but the last free.
ChallengeResult play(const ChallengeRule& rule, const ChallengeDriver& driver, const Clock& clock,
                     const RandomSource& random, int64_t deadline_ns, ChallengeMemory* memory,
                     Allocation* allocation) {
  ChallengeResult result;
  const auto end = [&result](Reason reason) {
    result.reason = reason;
    return result;
  };
  List before{memory->lists[0]};
  List after{memory->lists[1]};
  uint32_t* answered = memory->answered[0];
  uint32_t* answered_now = memory->answered[1];

  Count count;
  uint32_t last_steps = 0;
  // Once too few rounds are left for the longest row, more would be for nothing.
  while (rule.max_rounds - result.rounds + count.longest >= rule.winning_rounds) {
    if (clock.now_ns(clock.self) >= deadline_ns) return end(Reason::kChallengeTimeout);
    Reason reason = Reason::kNone;
    if (result.rounds == 0) {
      reason = take_list(driver, &before);
      std::fill_n(answered, before.count, 0U);
    }
    if (reason == Reason::kNone) reason = allocation->release();
    if (reason == Reason::kNone) reason = has_headroom(driver, rule);
    uint32_t steps = 0;
    if (reason == Reason::kNone) reason = draw_steps(random, rule, last_steps, &steps);
    if (reason != Reason::kNone) return end(reason);

    ++result.rounds;
    reason = allocation->allocate(steps);
    if (reason == Reason::kNone) reason = take_list(driver, &after);
    if (reason != Reason::kNone) return end(reason);

    const Change own = change(last_steps * kStepBytes, steps * kStepBytes);
    count = count_answers(rule, own, before, answered, after, answered_now);
    if (count.winners > 1) return end(Reason::kManyCandidates);
    if (count.winners == 1) {
      result.pid = count.winner;
      return end(Reason::kNone);
    }
    std::swap(before, after);
    std::swap(answered, answered_now);
    last_steps = steps;
  }
  return end(Reason::kNoCandidate);
}

}  // namespace

ChallengeResult challenge(const ChallengeRule& rule, const ChallengeDriver& driver, const Clock& clock,
                          const RandomSource& random, int64_t deadline_ns, ChallengeMemory* memory) {
  Allocation allocation(driver);
  ChallengeResult result = play(rule, driver, clock, random, deadline_ns, memory, &allocation);
  // That memory would not go back outweighs all else: it is what stays behind.
  if (allocation.release() != Reason::kNone) {
    result.reason = Reason::kMemoryNotFreed;
    result.pid = 0;
  }
  return result;
}

}  // namespace rollcall::hostpid
