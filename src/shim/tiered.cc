// A number that is known stays: a later discovery can only add the other one. The status
// is written last; a reader that sees kAssigned sees all that belongs to it.
#include "shim/tiered.h"

#include <dlfcn.h>

#include "base/clock.h"
#include "base/old_glibc.h"
#include "hostpid/hostpid.h"
#include "hostpid/types.h"
#include "shim/real.h"

ROLLCALL_OLD_SYMBOL(dlopen);

namespace rollcall::shim {
namespace {

// A program that makes and drops contexts in a loop must not pay for a challenge each
// time where none succeeds.
constexpr uint32_t kMaxChallenges = 8;

Tier tier_of(int32_t tier) {
  switch (tier) {
    case HOSTPID_TIER_INITIAL_NAMESPACE:
      return Tier::kInitialNamespace;
    case HOSTPID_TIER_BROKER:
      return Tier::kBroker;
    case HOSTPID_TIER_CHALLENGE:
      return Tier::kChallenge;
    default:
      return Tier::kNone;
  }
}

uint32_t reason_of(const char* word) {
  const hostpid::Reason reason = hostpid::reason_from_text(word);
  if (reason == hostpid::Reason::kNone) return static_cast<uint32_t>(Reason::kNone);
  return static_cast<uint32_t>(Reason::kHostpidFirst) + static_cast<uint32_t>(reason);
}

void take_host(const hostpid_result& result, RegionSlot* slot) {
  slot->assigned_pid = result.host_pid;
  slot->tier = static_cast<uint32_t>(tier_of(result.host_tier));
  slot->reason = reason_of(result.host_reason);
  slot->host_status = static_cast<uint32_t>(result.host_status);
}

void take_nvml(const hostpid_result& result, RegionSlot* slot) {
  slot->nvml_pid = result.nvml_pid;
  slot->nvml_tier = static_cast<uint32_t>(tier_of(result.nvml_tier));
  slot->nvml_reason = reason_of(result.nvml_reason);
  slot->nvml_status = static_cast<uint32_t>(result.nvml_status);
}

void publish(RegionSlot* slot) {
  const bool any = slot->assigned_pid > 0 || slot->nvml_pid > 0;
  slot->status.store(static_cast<uint32_t>(any ? SlotStatus::kAssigned : SlotStatus::kFailed),
                     std::memory_order_release);
}

// Past every hook of ours.
void* look_up(void* /*data*/, const char* name) {
  if (name[0] == 'c') return real_driver_function(name);
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  return nvml != nullptr ? real_dlsym(nvml, name) : nullptr;
}

}  // namespace

void discover_tiered(const Settings& settings, int64_t deadline_ns, RegionSlot* slot) {
  const int64_t start_ns = base::monotonic_ns();
  slot->status.store(static_cast<uint32_t>(SlotStatus::kDiscovering), std::memory_order_release);
  hostpid_options options;
  hostpid_options_init(&options);
  options.broker_path = settings.broker_path;
  options.broker_uid = settings.broker_uid;
  // What joining the region has left of it, rounded up: 0 is no deadline.
  const int64_t left_ms = (deadline_ns - start_ns + base::kNsPerMs - 1) / base::kNsPerMs;
  options.deadline_ms = left_ms > 0 ? static_cast<uint32_t>(left_ms) : 1;
  hostpid_result result;
  hostpid_discover(&options, &result);
  take_host(result, slot);
  take_nvml(result, slot);
  slot->nvml_view = static_cast<uint32_t>(result.nvml_view);
  slot->discovery_ns = base::monotonic_ns() - start_ns;
  publish(slot);
}

bool wants_challenge(const RegionSlot& slot) {
  return slot.nvml_pid == 0 && slot.nvml_status != HOSTPID_UNSUPPORTED && slot.challenges < kMaxChallenges;
}

void challenge_tiered(const Settings& settings, gpu::CuContext context, RegionSlot* slot) {
  hostpid_options options;
  hostpid_options_init(&options);
  options.tiers_allowed = HOSTPID_TIER_CHALLENGE;
  options.deadline_ms = settings.challenge_deadline_ms;
  options.context = context;
  options.lookup = look_up;
  options.nvml_view = slot->nvml_view;
  hostpid_result result;
  hostpid_discover(&options, &result);
  ++slot->challenges;
  slot->challenge_rounds = static_cast<uint32_t>(result.rounds);
  take_nvml(result, slot);
  if (slot->assigned_pid == 0 && result.host_pid > 0) take_host(result, slot);
  publish(slot);
}

}  // namespace rollcall::shim
