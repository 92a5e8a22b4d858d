// What the tiers have in common: how one of them ended, and what the outside world
// is to them. The world (clock, kernel, randomness, socket, driver) comes in as
// structs of functions, so that tests can explore what the real one does once in a
// year. Plain function pointers rather than virtual functions: this code goes inside
// other people's processes with libc alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hostpid/hostpid.h"

namespace rollcall::hostpid {

// Why a PID is not known. Each has one word (evidence, tables) and one sentence, and
// belongs to one hostpid_status.
enum class Reason : uint8_t {
  kNone = 0,
  kNotAsked,           // unavailable: the tiers that could tell were not allowed
  kNoBroker,           // unavailable: in a namespace of its own, and no broker configured
  kNoContext,          // unavailable: no context yet, so no challenge; no broker that told the view
  kBrokerGone,         // unavailable: the socket is not there, or nobody listens
  kBrokerBusy,         // unavailable: it said that it is busy
  kBrokerTimeout,      // timeout
  kBrokerUntrusted,    // denied: owner, mode, symbolic link, or server's UID
  kBrokerRefused,      // denied: no permission to connect, or it called the request invalid
  kBrokerNonsense,     // denied: its answer does not hold, or contradicts the kernel
  kBrokerViewUnknown,  // unavailable: it told the host PID, but knows no NVML view
  kViewNotGlobal,      // unavailable: the challenge proved the NVML PID; the host PID does not follow
  kDriverIncomplete,   // unsupported: a driver or NVML function is missing
  kNvmlUnavailable,    // unsupported: NVML is missing or refuses
  kDeviceNotPaired,    // unsupported: NVML does not know the context's device by its UUID
  kMig,                // unsupported: the device is partitioned
  kMps,                // unsupported: clients share a server's entry
  kMemoryNotReported,  // unsupported: NVML does not tell the memory of processes
  kNotEnoughMemory,    // unavailable: less is free on the device than the challenge wants
  kListFailed,         // unavailable: NVML would not list
  kListTruncated,      // ambiguous: the list was cut off, so the own entry may be missing
  kListContradicts,    // ambiguous: one PID stands in the list twice
  kNoCandidate,        // ambiguous: nobody answered to the challenge
  kManyCandidates,     // ambiguous: several did
  kContextFailed,      // unavailable: the driver would not make the context current
  kMemoryNotFreed,     // ambiguous: the driver would not take memory back
  kNoRandomness,       // unavailable: the kernel gives no random numbers
  kChallengeTimeout,   // timeout
  kKernelUnknown,      // unsupported: /proc does not tell the own PID namespace
  kLast = kKernelUnknown,
};
const char* to_text(Reason reason);         // "no_broker"; "" for kNone
Reason reason_from_text(const char* word);  // kNone also for a word that is none of them
const char* to_sentence(Reason reason);     // "" for kNone
hostpid_status status_of(Reason reason);    // HOSTPID_OK for kNone

// CLOCK_MONOTONIC, and a pause.
struct Clock {
  void* self = nullptr;
  int64_t (*now_ns)(void* self) = nullptr;
  void (*sleep_ns)(void* self, int64_t ns) = nullptr;
};

struct RandomSource {
  void* self = nullptr;
  // False: the kernel gives none (getrandom(2), never blocking).
  bool (*fill)(void* self, void* bytes, size_t size) = nullptr;
};

// What the kernel says of the calling process. 0: it does not say.
struct SelfFacts {
  int32_t own_pid = 0;         // getpid()
  uint64_t pid_namespace = 0;  // inode
  bool in_initial_pid_namespace = false;
  uint64_t start_time = 0;  // field 22 of /proc/self/stat; 0 also where a time namespace may shift it
};

struct Kernel {
  void* self = nullptr;
  // Only what tier 1 needs: microseconds.
  void (*read_namespace)(void* self, SelfFacts* facts) = nullptr;
  // The start time, for comparing with a broker's answer. Not the boot id: who answers on
  // a Unix socket runs on this kernel, and some containers have a boot id of their own.
  void (*read_rest)(void* self, SelfFacts* facts) = nullptr;
};

}  // namespace rollcall::hostpid
