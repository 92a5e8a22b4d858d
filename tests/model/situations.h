// What an explorer came across. A search that never met the interesting overlaps has
// shown nothing, so each of these must have been seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rollcall::model {

enum class Situation : uint8_t {
  // What must not be missed.
  kTwoCandidates,    // in one round two entries rose and fell by the amount asked for
  kOwnEntryMissing,  // in all three lists of a round
  kListTruncated,
  kSameRiseSameWindow,  // a neighbour rose by the amount asked for, between the same two lists
  kBrokerRestarted,     // between a connect and its reply
  // The rest of the world.
  kAnsweredAfterRestart,
  kBrokerBusy,
  kBrokerMalformed,
  kBrokerSpokeOfAnother,
  kBrokerTooSlow,
  kBrokerUpstream,  // a version 1 server was asked and answered
  kOneRoundShort,   // with the own entry missing, a neighbour answered all rounds but the last
  kTwoWinners,
  kPidReusedInARound,      // a newcomer stands in the next list under a PID of the one before
  kNeighbourCalledLikeUs,  // it is listed under the other number of this process
  kThreadIdListed,         // NVML lists a thread's number
  kMemoryNotReported,
  kOnePidTwice,
  kOutOfMemory,  // at the allocation itself
  kTooLittleFree,
  kMemoryNotFreed,
  kDeadlineInChallenge,
  kHostByNamespace,
  kHostByBroker,
  kHostByChallenge,
  kNvmlByBroker,
  kNvmlByChallenge,
  kNothingKnown,
  kLast = kNothingKnown,
};
inline constexpr size_t kSituations = static_cast<size_t>(Situation::kLast) + 1;

const char* to_text(Situation situation);

class Situations {
 public:
  void saw(Situation situation) { ++counts_[static_cast<size_t>(situation)]; }
  [[nodiscard]] uint64_t count(Situation situation) const { return counts_[static_cast<size_t>(situation)]; }

 private:
  std::array<uint64_t, kSituations> counts_{};
};

// Time as a world has it: every call into it takes some.
struct WorldTime {
  int64_t now_ns = 0;
  int64_t longest_call_ns = 1;
};

}  // namespace rollcall::model
