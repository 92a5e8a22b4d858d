// Tier 2, the client of the node broker: whom it trusts, how often it tries, and what
// it believes of an answer. One deadline holds over everything. A connection is made
// for one question and closed; none is ever kept, so none can be inherited over a fork
// (the kernel would still name the parent on it).
#pragma once

#include <cstddef>
#include <cstdint>

#include "hostpid/types.h"
#include "hostpid/wire.h"

namespace rollcall::hostpid {

// One connection to a broker, as the kernel gives it.
struct BrokerSocket {
  enum class Open {
    kOk,
    kNotThere,      // no such directory or socket, or nobody listens: it may be restarting
    kBacklogFull,   // EAGAIN: it is there, and has no room at the moment
    kUntrusted,     // owner or mode of the directory or socket, a symbolic link, the server's UID
    kNoPermission,  // to connect
    kFailed,
  };
  enum class Io { kOk, kClosed, kTimeout, kFailed };

  void* self = nullptr;
  // Checks and connects, without waiting.
  Open (*open)(void* self, const char* path, uint32_t trusted_uid) = nullptr;
  // All of it, or what stopped it.
  Io (*send)(void* self, const unsigned char* bytes, size_t size, int64_t deadline_ns) = nullptr;
  // At least one byte; kClosed at the end of the stream.
  Io (*receive)(void* self, unsigned char* bytes, size_t capacity, size_t* received,
                int64_t deadline_ns) = nullptr;
  void (*close)(void* self) = nullptr;  // also where nothing is open
};

struct BrokerAnswer {
  Reason reason = Reason::kNone;  // kNone: host_pid is set
  int32_t host_pid = 0;
  hostpid_nvml_view view = HOSTPID_VIEW_UNKNOWN;  // of an upstream server: unknown
};

// For how long a broker that is not there is looked for again: it may be restarting.
inline constexpr int64_t kRestartGraceNs = 100'000'000;
// A broker that took a question and closed without an answer is asked again so often.
inline constexpr int kMaxBrokenExchanges = 5;

// Asks the extended command first; of a server that does not know it, command 1.
// `facts` is completed with what the kernel says where an answer must be compared with
// it: an answer that names another namespace, start time or PID is no answer.
BrokerAnswer ask_broker(const BrokerSocket& socket, const char* path, uint32_t trusted_uid,
                        const Clock& clock, const RandomSource& random, const Kernel& kernel,
                        SelfFacts* facts, int64_t deadline_ns);

}  // namespace rollcall::hostpid
