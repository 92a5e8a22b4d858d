// The names, as a person reads them in the table of an exploration.
#include "model/situations.h"

namespace rollcall::model {

const char* to_text(Situation situation) {
  switch (situation) {
    case Situation::kTwoCandidates:
      return "two candidates at once";
    case Situation::kOwnEntryMissing:
      return "own entry missing";
    case Situation::kListTruncated:
      return "list truncated";
    case Situation::kSameRiseSameWindow:
      return "neighbour rising by the same amount in the same window";
    case Situation::kBrokerRestarted:
      return "broker restart between connect and reply";
    case Situation::kAnsweredAfterRestart:
      return "answered after a restart";
    case Situation::kBrokerBusy:
      return "broker busy";
    case Situation::kBrokerMalformed:
      return "broker's answer malformed";
    case Situation::kBrokerSpokeOfAnother:
      return "broker spoke of another process";
    case Situation::kBrokerTooSlow:
      return "broker slower than the deadline";
    case Situation::kBrokerUpstream:
      return "version 1 broker";
    case Situation::kOneRoundShort:
      return "neighbour one round short of winning, own entry missing";
    case Situation::kTwoWinners:
      return "two winners";
    case Situation::kPidReusedInARound:
      return "PID reused within a round";
    case Situation::kNeighbourCalledLikeUs:
      return "neighbour listed under this process's other number";
    case Situation::kThreadIdListed:
      return "NVML lists a thread id";
    case Situation::kMemoryNotReported:
      return "memory not reported";
    case Situation::kOnePidTwice:
      return "one PID twice";
    case Situation::kOutOfMemory:
      return "out of memory at the allocation";
    case Situation::kTooLittleFree:
      return "too little memory free";
    case Situation::kMemoryNotFreed:
      return "memory not taken back";
    case Situation::kDeadlineInChallenge:
      return "deadline in the challenge";
    case Situation::kHostByNamespace:
      return "host PID by namespace";
    case Situation::kHostByBroker:
      return "host PID by broker";
    case Situation::kHostByChallenge:
      return "host PID by challenge";
    case Situation::kNvmlByBroker:
      return "NVML PID by broker";
    case Situation::kNvmlByChallenge:
      return "NVML PID by challenge";
    case Situation::kNothingKnown:
      return "nothing known";
  }
  return "";
}

}  // namespace rollcall::model
