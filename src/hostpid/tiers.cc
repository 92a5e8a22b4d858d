// Each tier fills what it proves and nothing else. What is still missing in the end gets
// the reason of the tier that came nearest to telling it.
#include "hostpid/tiers.h"

namespace rollcall::hostpid {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

class Discovery {
 public:
  Discovery(const hostpid_options& options, const World& world, hostpid_result* result)
      : options_(options), world_(world), result_(*result) {
    deadline_ns_ = world_.clock.now_ns(world_.clock.self) + int64_t{options_.deadline_ms} * kNsPerMs;
  }

  void run() {
    world_.kernel.read_namespace(world_.kernel.self, &facts_);
    if (allowed(HOSTPID_TIER_INITIAL_NAMESPACE) && facts_.in_initial_pid_namespace && facts_.own_pid > 0) {
      set_host(facts_.own_pid, HOSTPID_TIER_INITIAL_NAMESPACE);
    }
    if (allowed(HOSTPID_TIER_BROKER) && options_.broker_path != nullptr) ask();
    if (allowed(HOSTPID_TIER_CHALLENGE) && world_.challenge.prepare != nullptr && result_.nvml_pid == 0) {
      challenge_device();
    }
    explain();
  }

 private:
  [[nodiscard]] bool allowed(hostpid_tier tier) const {
    return (options_.tiers_allowed & static_cast<uint32_t>(tier)) != 0;
  }

  void set_host(int32_t pid, hostpid_tier tier) {
    result_.host_pid = pid;
    result_.host_tier = tier;
  }
  void set_nvml(int32_t pid, hostpid_tier tier) {
    result_.nvml_pid = pid;
    result_.nvml_tier = tier;
  }

  void ask() {
    const BrokerAnswer answer = ask_broker(world_.socket, options_.broker_path, options_.broker_uid,
                                           world_.clock, world_.random, world_.kernel, &facts_, deadline_ns_);
    broker_reason_ = answer.reason;
    if (answer.reason != Reason::kNone) return;
    if (result_.host_pid == 0) set_host(answer.host_pid, HOSTPID_TIER_BROKER);
    result_.nvml_view = answer.view;
    if (answer.view == HOSTPID_VIEW_GLOBAL) set_nvml(answer.host_pid, HOSTPID_TIER_BROKER);
    if (answer.view == HOSTPID_VIEW_TRANSLATED && facts_.own_pid > 0) {
      set_nvml(facts_.own_pid, HOSTPID_TIER_BROKER);
    }
    if (answer.view == HOSTPID_VIEW_UNKNOWN) broker_nvml_reason_ = Reason::kBrokerViewUnknown;
  }

  void challenge_device() {
    ChallengeDriver driver;
    ChallengeMemory* memory = nullptr;
    challenge_reason_ = world_.challenge.prepare(world_.challenge.self, &driver, &memory);
    if (challenge_reason_ == Reason::kNone) {
      const ChallengeResult found =
          challenge(kChallengeRule, driver, world_.clock, world_.random, deadline_ns_, memory);
      result_.rounds = static_cast<int32_t>(found.rounds);
      challenge_reason_ = found.reason;
      if (found.reason == Reason::kNone) proved(static_cast<int32_t>(found.pid));
    }
    world_.challenge.restore(world_.challenge.self);
  }

  void proved(int32_t pid) {
    set_nvml(pid, HOSTPID_TIER_CHALLENGE);
    const bool global = options_.nvml_view == HOSTPID_VIEW_GLOBAL || result_.nvml_view == HOSTPID_VIEW_GLOBAL;
    if (result_.host_pid == 0 && global) set_host(pid, HOSTPID_TIER_CHALLENGE);
  }

  [[nodiscard]] Reason host_reason() const {
    if (broker_reason_ != Reason::kNone) return broker_reason_;
    if (!allowed(HOSTPID_TIER_BROKER)) {
      return result_.nvml_pid > 0 ? Reason::kViewNotGlobal : Reason::kNotAsked;
    }
    return facts_.pid_namespace == 0 ? Reason::kKernelUnknown : Reason::kNoBroker;
  }

  [[nodiscard]] Reason nvml_reason() const {
    if (challenge_reason_ != Reason::kNone) return challenge_reason_;
    if (broker_reason_ != Reason::kNone) return broker_reason_;
    if (broker_nvml_reason_ != Reason::kNone) return broker_nvml_reason_;
    return allowed(HOSTPID_TIER_CHALLENGE) ? Reason::kNoContext : Reason::kNotAsked;
  }

  void explain() {
    const Reason host = result_.host_pid > 0 ? Reason::kNone : host_reason();
    const Reason nvml = result_.nvml_pid > 0 ? Reason::kNone : nvml_reason();
    result_.host_status = status_of(host);
    result_.nvml_status = status_of(nvml);
    result_.host_reason = to_text(host);
    result_.nvml_reason = to_text(nvml);
    const bool any = host == Reason::kNone || nvml == Reason::kNone;
    result_.status = host == nvml && any ? HOSTPID_OK : any ? HOSTPID_PARTIAL : result_.host_status;
  }

  const hostpid_options& options_;
  const World& world_;
  hostpid_result& result_;
  SelfFacts facts_;
  int64_t deadline_ns_ = 0;
  Reason broker_reason_ = Reason::kNone;
  Reason broker_nvml_reason_ = Reason::kNone;
  Reason challenge_reason_ = Reason::kNone;
};

}  // namespace

void discover(const hostpid_options& options, const World& world, hostpid_result* result) {
  *result = {};
  Discovery(options, world, result).run();
}

}  // namespace rollcall::hostpid
