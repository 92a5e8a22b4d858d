// Tier 3, the allocation challenge: a process that holds a context allocates a random
// amount of device memory, and another one, and another one; the entry of NVML's list
// that changed by exactly as much, round after round, is its own. No lock, no helper, no
// probe context. docs/identity.md has the argument why it is sound and the bound.
//
// The rule. Before the first round is a list. A round is: free what the round before
// allocated, draw k from 1 … choices + 1 without the k of the round before (without 0 and
// the largest in the first round: always as many choices), allocate k steps, list. k is
// drawn after the round before has listed, so that nothing seen before can depend on it.
// A PID answers if it stands in both lists, and its figure changed by exactly as many
// steps as k did; an idle one never does. A PID that has answered in winning_rounds
// rounds without a miss, and is the only such one, is the own. A miss sets its count back
// to nothing. It ends as ambiguous where nobody can get so far any more within
// max_rounds, where a list was truncated or names one PID twice, and where two got so far
// in the same round.
//
// One list a round, because where many processes start together each call of the driver
// waits for the others' (half a millisecond for each, on an H200 with 50 processes): the
// number of calls is the whole cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hostpid/types.h"

namespace rollcall::hostpid {

// NVML's figure for a process moves in steps of 2 MiB (measured, driver 580).
inline constexpr uint64_t kStepBytes = 2ULL << 20;

struct ChallengeRule {
  uint32_t choices = 32;        // among which each k is drawn; a power of two
  uint32_t winning_rounds = 8;  // consecutive answers
  uint32_t max_rounds = 64;
};
inline constexpr ChallengeRule kChallengeRule{};
constexpr bool is_valid(const ChallengeRule& rule) {
  return rule.choices != 0 && (rule.choices & (rule.choices - 1)) == 0 && rule.winning_rounds != 0 &&
         rule.winning_rounds <= rule.max_rounds;
}
// One more than the choices: one of them is always the round's before.
constexpr uint64_t largest_bytes(const ChallengeRule& rule) {
  return (rule.choices + uint64_t{1}) * kStepBytes;
}
static_assert(is_valid(kChallengeRule));

// As many as NVML returns for one device; a list of that length is taken for truncated.
inline constexpr size_t kMaxListed = 950;

// NVML's value for memory that it does not tell. An entry that has it cannot answer, but
// spoils nothing for the others: were it the own, that is an own entry that is missing,
// which the rule allows for. Where no entry tells, nobody ever could answer.
inline constexpr uint64_t kMemoryUnknown = UINT64_MAX;

struct ListedProcess {
  uint32_t pid = 0;
  uint64_t used_bytes = 0;  // kMemoryUnknown where NVML says so
};

enum class ListResult {
  kOk,
  kFailed,
  kTruncated,  // as many as NVML returns at most, or it said that more would be needed
};
enum class AllocateResult { kOk, kNoMemory, kFailed };

// The driver, on one device, with the context already current.
struct ChallengeDriver {
  void* self = nullptr;
  // Fills at most kMaxListed entries, in any order; entries of PID 0 are passed over.
  ListResult (*list)(void* self, ListedProcess* entries, size_t* count) = nullptr;
  AllocateResult (*allocate)(void* self, uint64_t bytes, uint64_t* pointer) = nullptr;
  // Called once for each allocation, never again after it failed: a driver's free may
  // report another call's failure, and the address may be somebody else's by then.
  bool (*release)(void* self, uint64_t pointer) = nullptr;
  // Bytes free on the device; false: not known, which is not enough.
  bool (*free_bytes)(void* self, uint64_t* bytes) = nullptr;
};

struct ChallengeResult {
  Reason reason = Reason::kNone;  // kNone: pid is the own entry
  uint32_t pid = 0;
  uint32_t rounds = 0;  // begun, that is: for which memory was asked
};

// Where the lists live. The caller provides it (a mapping rather than the stack of a
// host's thread); contents do not matter.
struct ChallengeMemory {
  ListedProcess lists[2][kMaxListed];
  uint32_t answered[2][kMaxListed];  // consecutive rounds, beside each list
};

// Holds at most one allocation, of largest_bytes(rule), and leaves none behind whatever
// happens (kMemoryNotFreed if the driver itself would not take it back). Wants four times
// its largest allocation free before each, so that it is not what makes a neighbour's
// allocation fail; less is kNotEnoughMemory. deadline_ns is in the clock's time; no round
// begins once it has passed. `rule` is valid.
ChallengeResult challenge(const ChallengeRule& rule, const ChallengeDriver& driver, const Clock& clock,
                          const RandomSource& random, int64_t deadline_ns, ChallengeMemory* memory);

}  // namespace rollcall::hostpid
