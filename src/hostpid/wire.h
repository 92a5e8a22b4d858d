// HPID version 1, the protocol of the node broker, in both roles, and our extended
// command. Pure: bytes in, values out. Everything is big endian.
//
//   request, 8 bytes:  "HPID", u16 version 1, u16 command
//   answer, 12 bytes:  "HPID", u16 version 1, u16 status, u32 pid
//
// Command 1 is HAMi-core's (its broker, and ours). Command 2 is ours, with 52 bytes:
//
//   the 12 bytes above, u32 flags (bits 0-1: NVML view), u32 reserved 0, u64 start
//   time, u64 inode of the client's PID namespace, 16 bytes boot id
//
// An answer to command 2 that reports a failure may be the 12 bytes alone: that is all
// that a version 1 server can say, and what ours says before it has read a request.
// The client sends no identity; nothing that it says is believed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hostpid/hostpid.h"

namespace rollcall::hostpid {

inline constexpr size_t kRequestBytes = 8;
inline constexpr size_t kAnswerBytes = 12;
inline constexpr size_t kExtendedAnswerBytes = 52;
inline constexpr uint16_t kWireVersion = 1;

enum class Command : uint16_t { kPid = 1, kExtended = 2 };

enum class WireStatus : uint16_t {
  kOk = 0,
  kInvalidRequest = 1,
  kBusy = 2,      // ours; a version 1 client takes any status but 0 for a failure
  kPeerGone = 3,  // ours: the client ended, or its PID could not be pinned
};

struct ExtendedAnswer {
  WireStatus status = WireStatus::kOk;
  uint32_t pid = 0;  // 1 … INT32_MAX with kOk, else 0
  hostpid_nvml_view view = HOSTPID_VIEW_UNKNOWN;
  uint64_t start_time = 0;         // clock ticks since boot; 0: could not be read
  uint64_t pid_namespace = 0;      // inode; 0: could not be read
  unsigned char boot_id[16] = {};  // all zero: could not be read
};

// --- client ---
void write_request(Command command, unsigned char out[kRequestBytes]);

enum class Parse {
  kComplete,    // *answer is filled
  kIncomplete,  // right so far; more is to come
  kMalformed,
};
// The first `length` bytes of an answer to command 1 or 2. kComplete for an extended
// answer also where its first 12 bytes report a failure: whatever follows is not needed.
// More bytes than the answer has are kMalformed, as are a PID beyond INT32_MAX, a PID
// of 0 with kOk, another one with a failure, an unknown status, an unknown view and a
// reserved field that is not 0.
Parse parse_answer(Command command, const unsigned char* bytes, size_t length, ExtendedAnswer* answer);

// --- server ---
enum class RequestParse { kPid, kExtended, kIncomplete, kInvalid };
// kInvalid as soon as a byte is wrong; bytes beyond the eight are kInvalid, too.
RequestParse parse_request(const unsigned char* bytes, size_t length);

// Writes the answer to a command; returns its length: 12 or 52 bytes. The PID is left
// out (0) with any status but kOk.
size_t write_answer(Command command, const ExtendedAnswer& answer, unsigned char out[kExtendedAnswerBytes]);

}  // namespace rollcall::hostpid
