// What the broker counts, as plain numbers, and how they become text. One thread
// counts and writes, so there is nothing to lock.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "hostpid/wire.h"

namespace rollcall::broker {

// Why a connection went without having been answered with a PID.
enum class Refusal {
  kTenantBound,    // its tenant had all the places that a tenant may have
  kTotalBound,     // all places were taken, and its tenant had no fewer than others
  kEvicted,        // it waited longest, of the tenant with most, when a place was needed
  kTimeout,        // no whole request in time
  kHangUp,         // it closed before a whole request
  kInvalid,        // not a request of this protocol
  kPeerGone,       // the client ended, or is not visible here
  kNoDescriptors,  // no file descriptors were left
  kEnding,         // the broker was asked to end
  kLast = kEnding,
};
inline constexpr size_t kRefusals = static_cast<size_t>(Refusal::kLast) + 1;

inline constexpr size_t kCommands = 2;
inline constexpr size_t kStatuses = 4;

// Upper ends in microseconds of the histogram of the time from accept to answer; one
// more bucket takes what is longer.
inline constexpr std::array<uint32_t, 12> kLatencyBucketsUs = {10,   20,   50,    100,   200,    500,
                                                               1000, 2000, 10000, 50000, 100000, 500000};

struct Counters {
  // [command - 1][status]: whole requests, by what was answered.
  std::array<std::array<uint64_t, kStatuses>, kCommands> requests{};
  std::array<uint64_t, kRefusals> refusals{};
  std::array<uint64_t, kLatencyBucketsUs.size() + 1> latency{};  // not cumulative
  uint64_t latency_sum_ns = 0;
  uint64_t accepted = 0;
  uint64_t metrics_failures = 0;

  void count_request(hostpid::Command command, hostpid::WireStatus status, int64_t latency_ns);
  void count_refusal(Refusal cause) { ++refusals[static_cast<size_t>(cause)]; }
};

// What is so at the moment of writing.
struct Moment {
  uint64_t waiting = 0;
  uint64_t tenants = 0;
  double start_time_s = 0;  // since the epoch
  hostpid_nvml_view view = HOSTPID_VIEW_UNKNOWN;
};

const char* to_text(hostpid_nvml_view view);  // "unknown", "global", "translated"

// OpenMetrics text, ending with "# EOF".
std::string metrics_text(const Counters& counters, const Moment& moment);

}  // namespace rollcall::broker
