// The words, the sentences and the statuses of the reasons, in one table, so that none
// of them can be forgotten for a new reason.
#include "hostpid/types.h"

#include <string.h>

namespace rollcall::hostpid {
namespace {

struct Row {
  Reason reason;
  hostpid_status status;
  const char* word;
  const char* sentence;
};

constexpr Row kRows[] = {
    {Reason::kNone, HOSTPID_OK, "", ""},
    {Reason::kNotAsked, HOSTPID_UNAVAILABLE, "not_asked", "the tiers that could tell were not allowed"},
    {Reason::kNoBroker, HOSTPID_UNAVAILABLE, "no_broker",
     "this process is in a PID namespace of its own, so only the node's broker can tell its host PID, and "
     "none "
     "is configured; run hostpidd on the node and mount its directory"},
    {Reason::kNoContext, HOSTPID_UNAVAILABLE, "no_context",
     "NVML lists a process once it has a context, and no broker told how the node numbers processes; ask "
     "again "
     "with the process's first context"},
    {Reason::kBrokerGone, HOSTPID_UNAVAILABLE, "broker_gone",
     "the broker's socket is not there or nobody listens on it; see whether hostpidd runs and its directory "
     "is "
     "mounted"},
    {Reason::kBrokerBusy, HOSTPID_UNAVAILABLE, "broker_busy",
     "the broker has too many connections of this tenant, and said so; ask again"},
    {Reason::kBrokerTimeout, HOSTPID_TIMEOUT, "broker_timeout",
     "the broker did not answer before the deadline"},
    {Reason::kBrokerUntrusted, HOSTPID_DENIED, "broker_untrusted",
     "the broker's socket or directory belongs to somebody else, can be written by others or is a symbolic "
     "link, or the server runs as somebody else; its answer could be anybody's"},
    {Reason::kBrokerRefused, HOSTPID_DENIED, "broker_refused",
     "the broker may not be connected to, or called the request invalid"},
    {Reason::kBrokerNonsense, HOSTPID_DENIED, "broker_nonsense",
     "the broker's answer is malformed, or speaks of another process than this one; is it in the host's PID "
     "namespace?"},
    {Reason::kBrokerViewUnknown, HOSTPID_UNAVAILABLE, "broker_view_unknown",
     "the broker does not know how NVML numbers processes on this node; ask again with the first context"},
    {Reason::kViewNotGlobal, HOSTPID_UNAVAILABLE, "view_not_global",
     "the PID that NVML lists was found, but it is the host PID only where NVML numbers by the host's "
     "namespace, which is not known here"},
    {Reason::kDriverIncomplete, HOSTPID_UNSUPPORTED, "driver_incomplete",
     "a function of the driver or of NVML that the challenge needs is missing"},
    {Reason::kNvmlUnavailable, HOSTPID_UNSUPPORTED, "nvml_unavailable",
     "libnvidia-ml.so.1 is missing, or refused to start"},
    {Reason::kDeviceNotPaired, HOSTPID_UNSUPPORTED, "device_not_paired",
     "NVML does not know the context's device by its UUID"},
    {Reason::kMig, HOSTPID_UNSUPPORTED, "mig",
     "the device is partitioned (MIG), where the challenge is not known to hold"},
    {Reason::kMps, HOSTPID_UNSUPPORTED, "mps",
     "the device is shared through MPS, whose clients have no entries of their own"},
    {Reason::kMemoryNotReported, HOSTPID_UNSUPPORTED, "memory_not_reported",
     "this driver does not tell the memory of single processes"},
    {Reason::kNotEnoughMemory, HOSTPID_UNAVAILABLE, "not_enough_memory",
     "less device memory is free than the challenge may take without harm to others; ask again at the next "
     "context"},
    {Reason::kListFailed, HOSTPID_UNAVAILABLE, "list_failed", "NVML would not list the processes"},
    {Reason::kListTruncated, HOSTPID_AMBIGUOUS, "list_truncated",
     "NVML's list was cut off, so the own entry may be missing from it"},
    {Reason::kListContradicts, HOSTPID_AMBIGUOUS, "list_contradicts", "NVML's list names one PID twice"},
    {Reason::kNoCandidate, HOSTPID_AMBIGUOUS, "no_candidate",
     "no entry of NVML's list answered the challenge often enough"},
    {Reason::kManyCandidates, HOSTPID_AMBIGUOUS, "many_candidates",
     "several entries of NVML's list answered the challenge equally often"},
    {Reason::kContextFailed, HOSTPID_UNAVAILABLE, "context_failed",
     "the driver would not make the context current, or use it"},
    {Reason::kMemoryNotFreed, HOSTPID_AMBIGUOUS, "memory_not_freed",
     "the driver would not take the challenge's memory back"},
    {Reason::kNoRandomness, HOSTPID_UNAVAILABLE, "no_randomness", "the kernel gives no random numbers"},
    {Reason::kChallengeTimeout, HOSTPID_TIMEOUT, "challenge_timeout",
     "the deadline passed before an entry had answered often enough"},
    {Reason::kKernelUnknown, HOSTPID_UNSUPPORTED, "kernel_unknown",
     "/proc does not tell this process's PID namespace"},
};

constexpr bool rows_are_complete() {
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; ++i) {
    if (static_cast<size_t>(kRows[i].reason) != i) return false;
  }
  return sizeof kRows / sizeof kRows[0] == static_cast<size_t>(Reason::kLast) + 1;
}
static_assert(rows_are_complete(), "one row for each reason, in order");

}  // namespace

const char* to_text(Reason reason) {
  return kRows[static_cast<size_t>(reason)].word;
}

Reason reason_from_text(const char* word) {
  for (const Row& row : kRows) {
    if (strcmp(row.word, word) == 0) return row.reason;
  }
  return Reason::kNone;
}

const char* to_sentence(Reason reason) {
  return kRows[static_cast<size_t>(reason)].sentence;
}

hostpid_status status_of(Reason reason) {
  return kRows[static_cast<size_t>(reason)].status;
}

}  // namespace rollcall::hostpid
