// The rounds of the allocation challenge. Lists are sorted by PID, so that one pass
// over three of them tells who answered; counts lie beside the list they belong to and
// move on with it. Nothing is allocated, and nothing is remembered of who is not in the
// latest list: an entry that went missing once has missed.
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
  return free_bytes / kHeadroom >= rule.steps * kStepBytes ? Reason::kNone : Reason::kNotEnoughMemory;
}

// Every amount is as likely as any other: the number of steps divides the range of the
// word that it is cut from.
Reason draw_bytes(const RandomSource& random, const ChallengeRule& rule, uint64_t* bytes) {
  uint32_t word = 0;
  if (!random.fill(random.self, &word, sizeof word)) return Reason::kNoRandomness;
  *bytes = (1 + (word & (rule.steps - 1))) * kStepBytes;
  return Reason::kNone;
}

// Allocates, lists, frees. That memory would not go back outweighs a failed list: it is
// the one failure that stays behind.
Reason take_list_while_allocated(const ChallengeDriver& driver, uint64_t bytes, List* list) {
  uint64_t pointer = 0;
  switch (driver.allocate(driver.self, bytes, &pointer)) {
    case AllocateResult::kOk:
      break;
    case AllocateResult::kNoMemory:
      return Reason::kNotEnoughMemory;
    case AllocateResult::kFailed:
      return Reason::kContextFailed;
  }
  const Reason listed = take_list(driver, list);
  return driver.release(driver.self, pointer) ? listed : Reason::kMemoryNotFreed;
}

const ListedProcess* find_from(const List& list, size_t* at, uint32_t pid) {
  while (*at < list.count && list.entries[*at].pid < pid) ++*at;
  return *at < list.count && list.entries[*at].pid == pid ? &list.entries[*at] : nullptr;
}

// Up by so much and down again by as much, which is: back to where it was.
bool answers(const ListedProcess& before, const ListedProcess& during, const ListedProcess& after,
             uint64_t bytes) {
  return during.used_bytes > before.used_bytes && during.used_bytes - before.used_bytes == bytes &&
         after.used_bytes == before.used_bytes;
}

struct Count {
  uint32_t longest = 0;
  size_t winners = 0;
  uint32_t winner = 0;
};

// Counts on from the first list's entries to the last one's.
Count count_answers(const ChallengeRule& rule, uint64_t bytes, const List& before, const uint32_t* answered,
                    const List& during, const List& after, uint32_t* answered_now) {
  Count count;
  size_t in_before = 0;
  size_t in_during = 0;
  for (size_t i = 0; i < after.count; ++i) {
    const ListedProcess& last = after.entries[i];
    const ListedProcess* first = find_from(before, &in_before, last.pid);
    const ListedProcess* middle = find_from(during, &in_during, last.pid);
    const bool answer = first != nullptr && middle != nullptr && answers(*first, *middle, last, bytes);
    answered_now[i] = answer ? answered[in_before] + 1 : 0;
    count.longest = std::max(count.longest, answered_now[i]);
    if (answered_now[i] < rule.winning_rounds) continue;
    ++count.winners;
    count.winner = last.pid;
  }
  return count;
}

}  // namespace

ChallengeResult challenge(const ChallengeRule& rule, const ChallengeDriver& driver, const Clock& clock,
                          const RandomSource& random, int64_t deadline_ns, ChallengeMemory* memory) {
  ChallengeResult result;
  const auto end = [&result](Reason reason) {
    result.reason = reason;
    return result;
  };
  List before{memory->lists[0]};
  List during{memory->lists[1]};
  List after{memory->lists[2]};
  uint32_t* answered = memory->answered[0];
  uint32_t* answered_now = memory->answered[1];

  Count count;
  // Once too few rounds are left for the longest row, more would be for nothing.
  while (rule.max_rounds - result.rounds + count.longest >= rule.winning_rounds) {
    if (clock.now_ns(clock.self) >= deadline_ns) return end(Reason::kChallengeTimeout);
    Reason reason = Reason::kNone;
    if (result.rounds == 0) {
      reason = take_list(driver, &before);
      std::fill_n(answered, before.count, 0U);
    }
    uint64_t bytes = 0;
    if (reason == Reason::kNone) reason = has_headroom(driver, rule);
    if (reason == Reason::kNone) reason = draw_bytes(random, rule, &bytes);
    if (reason != Reason::kNone) return end(reason);

    ++result.rounds;
    reason = take_list_while_allocated(driver, bytes, &during);
    if (reason == Reason::kNone) reason = take_list(driver, &after);
    if (reason != Reason::kNone) return end(reason);

    count = count_answers(rule, bytes, before, answered, during, after, answered_now);
    if (count.winners > 1) return end(Reason::kManyCandidates);
    if (count.winners == 1) {
      result.pid = count.winner;
      return end(Reason::kNone);
    }
    std::swap(before, after);
    std::swap(answered, answered_now);
  }
  return end(Reason::kNoCandidate);
}

}  // namespace rollcall::hostpid
