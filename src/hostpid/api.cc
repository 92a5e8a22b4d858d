// The C interface: options checked, the real world put together, errno kept.
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "hostpid/broker_socket.h"
#include "hostpid/device.h"
#include "hostpid/hostpid.h"
#include "hostpid/system.h"
#include "hostpid/tiers.h"

using namespace rollcall;
using namespace rollcall::hostpid;

namespace {

constexpr uint32_t kDefaultDeadlineMs = 500;
constexpr uint32_t kLongestDeadlineMs = 60'000;
constexpr const char* kInvalidOptions = "invalid_options";

bool valid(const hostpid_options& options) {
  for (const uint32_t value : options.reserved) {
    if (value != 0) return false;
  }
  return options.size_bytes == sizeof options && (options.tiers_allowed & ~HOSTPID_ALL_TIERS) == 0 &&
         options.tiers_allowed != 0 && options.deadline_ms > 0 && options.deadline_ms <= kLongestDeadlineMs &&
         options.nvml_view <= HOSTPID_VIEW_TRANSLATED;
}

void refuse(hostpid_result* result) {
  *result = {};
  result->status = result->host_status = result->nvml_status = HOSTPID_INVALID;
  result->host_reason = result->nvml_reason = kInvalidOptions;
}

void discover_here(const hostpid_options& options, hostpid_result* result) {
  BrokerConnection connection;
  Device device(options.context, {options.lookup, options.lookup_data});
  World world{system_clock(), system_random(), system_kernel(), make_broker_socket(&connection), {}};
  if (options.context != nullptr) world.challenge = device.site();
  rollcall::hostpid::discover(options, world, result);
}

}  // namespace

extern "C" {

void hostpid_options_init(hostpid_options* options) {
  *options = {};
  options->size_bytes = sizeof *options;
  options->tiers_allowed = HOSTPID_ALL_TIERS;
  options->deadline_ms = kDefaultDeadlineMs;
}

hostpid_status hostpid_discover(const hostpid_options* options, hostpid_result* result) {
  const int errno_before = errno;
  const int64_t start_ns = base::monotonic_ns();
  hostpid_options defaults;
  if (options == nullptr) {
    hostpid_options_init(&defaults);
    options = &defaults;
  }
  if (valid(*options)) {
    discover_here(*options, result);
  } else {
    refuse(result);
  }
  result->elapsed_ns = base::monotonic_ns() - start_ns;
  errno = errno_before;
  return static_cast<hostpid_status>(result->status);
}

const char* hostpid_status_text(int status) {
  switch (status) {
    case HOSTPID_OK:
      return "ok";
    case HOSTPID_UNAVAILABLE:
      return "unavailable";
    case HOSTPID_AMBIGUOUS:
      return "ambiguous";
    case HOSTPID_TIMEOUT:
      return "timeout";
    case HOSTPID_UNSUPPORTED:
      return "unsupported";
    case HOSTPID_DENIED:
      return "denied";
    case HOSTPID_INVALID:
      return "invalid";
    case HOSTPID_PARTIAL:
      return "partial";
    default:
      return "unknown";
  }
}

const char* hostpid_tier_text(int tier) {
  switch (tier) {
    case HOSTPID_TIER_NONE:
      return "";
    case HOSTPID_TIER_INITIAL_NAMESPACE:
      return "initial-namespace";
    case HOSTPID_TIER_BROKER:
      return "broker";
    case HOSTPID_TIER_CHALLENGE:
      return "challenge";
    default:
      return "unknown";
  }
}

const char* hostpid_reason_text(const char* reason) {
  if (reason == nullptr) return "";
  if (strcmp(reason, kInvalidOptions) == 0) {
    return "the options are not valid: begin with hostpid_options_init, and keep to the ranges of the header";
  }
  const Reason known = reason_from_text(reason);
  return to_sentence(known);
}

int hostpid_api_version(void) {
  return HOSTPID_API_MAJOR * 1000 + HOSTPID_API_MINOR;
}

}  // extern "C"
