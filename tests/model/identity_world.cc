// The truth is drawn first, then what the kernel, the broker and the driver show of it.
#include "model/identity_world.h"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

#include "model/random.h"
#include "model/simulated_broker.h"
#include "model/simulated_device.h"

namespace rollcall::model {

using namespace hostpid;

namespace {

constexpr uint64_t kInitialNamespace = 4026531836;
constexpr int64_t kQuickCallNs = 40'000;

struct Truth {
  SelfFacts facts;  // what the kernel tells this process
  uint32_t host_pid = 0;
  uint32_t nvml_pid = 0;
  hostpid_nvml_view view = HOSTPID_VIEW_UNKNOWN;
  bool thread_ids = false;  // NVML numbers neither processes by the one nor by the other
};

Truth draw_truth(Random* random) {
  Truth truth;
  const bool initial = random->one_in(3);
  truth.host_pid = static_cast<uint32_t>(2 + random->below(1 << 22));
  truth.facts.own_pid = static_cast<int32_t>(initial ? truth.host_pid : 1 + random->below(300));
  truth.facts.pid_namespace = initial ? kInitialNamespace : kInitialNamespace + 1 + random->below(1000);
  truth.facts.in_initial_pid_namespace = initial;
  if (random->one_in(16)) {  // no /proc
    truth.facts.pid_namespace = 0;
    truth.facts.in_initial_pid_namespace = false;
  }
  truth.facts.start_time = random->one_in(8) ? 0 : 1 + random->below(1 << 30);
  truth.view = random->one_in(2) ? HOSTPID_VIEW_GLOBAL : HOSTPID_VIEW_TRANSLATED;
  truth.nvml_pid =
      truth.view == HOSTPID_VIEW_GLOBAL ? truth.host_pid : static_cast<uint32_t>(truth.facts.own_pid);
  truth.thread_ids = random->one_in(8);
  if (truth.thread_ids) {
    truth.view = HOSTPID_VIEW_UNKNOWN;  // nobody who measured it could call it anything else
    truth.nvml_pid += 1 + static_cast<uint32_t>(random->below(100));
  }
  return truth;
}

BrokerTruth broker_truth(Random* random, const Truth& truth) {
  BrokerTruth told;
  told.answer.pid = truth.host_pid;
  told.answer.view = random->one_in(4) ? HOSTPID_VIEW_UNKNOWN : truth.view;
  told.answer.start_time = random->one_in(4) ? 0 : truth.facts.start_time;
  told.answer.pid_namespace = random->one_in(4) ? 0 : truth.facts.pid_namespace;
  told.client_knows_itself = truth.facts.start_time != 0 && truth.facts.pid_namespace != 0 &&
                             told.answer.start_time != 0 && told.answer.pid_namespace != 0;
  return told;
}

struct KernelWorld {
  SelfFacts facts;
};

Kernel kernel_of(KernelWorld* world) {
  Kernel kernel;
  kernel.self = world;
  kernel.read_namespace = [](void* self, SelfFacts* facts) {
    const SelfFacts& truth = static_cast<KernelWorld*>(self)->facts;
    facts->own_pid = truth.own_pid;
    facts->pid_namespace = truth.pid_namespace;
    facts->in_initial_pid_namespace = truth.in_initial_pid_namespace;
  };
  kernel.read_rest = [](void* self, SelfFacts* facts) {
    facts->start_time = static_cast<KernelWorld*>(self)->facts.start_time;
  };
  return kernel;
}

struct NoiseWorld {
  Random random;
  bool dry = false;
};

// --- what is wrong ---

bool reason_is_typed(const char* reason, int32_t status) {
  if (reason == nullptr || reason[0] == '\0') return false;
  for (int r = 1; r <= static_cast<int>(Reason::kLast); ++r) {
    const auto known = static_cast<Reason>(r);
    if (strcmp(to_text(known), reason) == 0) return status_of(known) == status && status != HOSTPID_OK;
  }
  return false;
}

std::string judge_pid(const char* which, int32_t pid, int32_t tier, int32_t status, const char* reason,
                      uint32_t truth) {
  const std::string name = which;
  if (pid == 0) {
    if (tier != HOSTPID_TIER_NONE) return name + " PID is not known, but has a tier";
    if (!reason_is_typed(reason, status)) return name + " PID is not known, for no typed reason";
    return {};
  }
  if (pid != static_cast<int32_t>(truth))
    return name + " PID is " + std::to_string(truth) + ", but " + std::to_string(pid) +
           " was claimed by tier " + std::to_string(tier);
  if (status != HOSTPID_OK || tier == HOSTPID_TIER_NONE || reason == nullptr || reason[0] != '\0')
    return name + " PID is known, but its status, tier or reason does not say so";
  return {};
}

std::string judge(const hostpid_result& result, const Truth& truth) {
  std::string wrong = judge_pid("host", result.host_pid, result.host_tier, result.host_status,
                                result.host_reason, truth.host_pid);
  if (wrong.empty()) {
    wrong = judge_pid("NVML", result.nvml_pid, result.nvml_tier, result.nvml_status, result.nvml_reason,
                      truth.nvml_pid);
  }
  if (!wrong.empty()) return wrong;
  const bool host = result.host_pid != 0;
  const bool nvml = result.nvml_pid != 0;
  const int32_t whole = host && nvml ? HOSTPID_OK : host || nvml ? HOSTPID_PARTIAL : result.host_status;
  return result.status == whole ? "" : "the status of the whole does not follow from the two";
}

void note(const hostpid_result& result, Situations* situations) {
  const auto saw_if = [&](bool condition, Situation situation) {
    if (condition) situations->saw(situation);
  };
  saw_if(result.host_tier == HOSTPID_TIER_INITIAL_NAMESPACE, Situation::kHostByNamespace);
  saw_if(result.host_tier == HOSTPID_TIER_BROKER, Situation::kHostByBroker);
  saw_if(result.host_tier == HOSTPID_TIER_CHALLENGE, Situation::kHostByChallenge);
  saw_if(result.nvml_tier == HOSTPID_TIER_BROKER, Situation::kNvmlByBroker);
  saw_if(result.nvml_tier == HOSTPID_TIER_CHALLENGE, Situation::kNvmlByChallenge);
  saw_if(result.host_pid == 0 && result.nvml_pid == 0, Situation::kNothingKnown);
  saw_if(strcmp(result.nvml_reason, to_text(Reason::kManyCandidates)) == 0, Situation::kTwoWinners);
  saw_if(strcmp(result.nvml_reason, to_text(Reason::kChallengeTimeout)) == 0,
         Situation::kDeadlineInChallenge);
}

bool asks(const hostpid_options& options, hostpid_tier tier) {
  return (options.tiers_allowed & static_cast<uint32_t>(tier)) != 0;
}

hostpid_options draw_options(Random* random, const Truth& truth) {
  hostpid_options options;
  hostpid_options_init(&options);
  constexpr uint32_t kDeadlinesMs[] = {1, 5, 50, 500, 500, 500};
  options.deadline_ms = kDeadlinesMs[random->below(std::size(kDeadlinesMs))];
  if (random->one_in(8)) options.tiers_allowed = static_cast<uint32_t>(1 + random->below(HOSTPID_ALL_TIERS));
  if (!random->one_in(3)) options.broker_path = "/run/rollcall/hostpid.sock";
  if (random->one_in(4)) options.nvml_view = truth.view;  // as an earlier result told it
  return options;
}

}  // namespace

Verdict discover_in_world(uint64_t seed, Situations* situations, ChallengeMemory* memory) {
  Random random(seed);
  const Truth truth = draw_truth(&random);
  const hostpid_options options = draw_options(&random, truth);
  WorldTime time;
  time.now_ns = static_cast<int64_t>(random.below(1ULL << 50));
  // From quick to so slow that few rounds fit.
  time.longest_call_ns = random.one_in(4) ? static_cast<int64_t>(1 + random.below(5'000'000)) : kQuickCallNs;
  if (truth.thread_ids) situations->saw(Situation::kThreadIdListed);

  SimulatedBroker broker(&random, &time, situations, broker_truth(&random, truth));
  const auto own_pid = static_cast<uint32_t>(truth.facts.own_pid);
  const uint32_t other = truth.nvml_pid == truth.host_pid ? own_pid : truth.host_pid;
  SimulatedDevice device(&random, &time, situations, {truth.nvml_pid, other != truth.nvml_pid ? other : 0},
                         memory);
  KernelWorld kernel{truth.facts};
  NoiseWorld noise{Random(random.next()), random.one_in(64)};

  World world;
  world.clock.self = &time;
  world.clock.now_ns = [](void* self) { return static_cast<WorldTime*>(self)->now_ns; };
  world.clock.sleep_ns = [](void* self, int64_t ns) { static_cast<WorldTime*>(self)->now_ns += ns; };
  world.random.self = &noise;
  world.random.fill = [](void* self, void* bytes, size_t size) {
    NoiseWorld& n = *static_cast<NoiseWorld*>(self);
    const uint64_t word = n.random.next();
    memcpy(bytes, &word, size);
    return !n.dry;
  };
  world.kernel = kernel_of(&kernel);
  world.socket = broker.socket();
  if (!random.one_in(4)) world.challenge = device.site();  // else there is no context yet

  const int64_t begun_ns = time.now_ns;
  hostpid_result result;
  memset(&result, 0xA5, sizeof result);
  discover(options, world, &result);
  const int64_t elapsed_ns = time.now_ns - begun_ns;

  Verdict verdict;
  verdict.claimed = result.host_pid != 0 || result.nvml_pid != 0;
  verdict.wrong = judge(result, truth);
  if (verdict.wrong.empty()) note(result, situations);
  const auto wrong_if = [&](bool condition, const char* text) {
    if (condition && verdict.wrong.empty()) verdict.wrong = text;
  };
  wrong_if(device.misuse() != nullptr, device.misuse());
  wrong_if(device.allocation_left(), "an allocation was left behind");
  wrong_if(device.release_failed() && strcmp(result.nvml_reason, to_text(Reason::kMemoryNotFreed)) != 0,
           "memory was not taken back, and nobody says so");
  wrong_if(!device.restored(), "the thread's contexts are not as they were");
  wrong_if(!broker.all_closed(), "a connection was left open");
  // Preparing, the first list, and a round: free memory, allocate, list, free.
  constexpr int64_t kCallsPastTheDeadline = 6;
  wrong_if(
      elapsed_ns > int64_t{options.deadline_ms} * 1'000'000 + kCallsPastTheDeadline * time.longest_call_ns,
      "it took longer than the deadline and one round");
  // Silence must be for a reason.
  const bool time_enough = options.deadline_ms >= 50 && time.longest_call_ns <= kQuickCallNs;
  wrong_if(result.host_pid == 0 && truth.facts.in_initial_pid_namespace &&
               asks(options, HOSTPID_TIER_INITIAL_NAMESPACE),
           "the namespace tells the host PID, but it is not known");
  wrong_if(result.host_pid == 0 && options.broker_path != nullptr && asks(options, HOSTPID_TIER_BROKER) &&
               broker.faultless() && time_enough,
           "a broker without a fault was there, but the host PID is not known");
  wrong_if(result.nvml_pid == 0 && world.challenge.prepare != nullptr &&
               asks(options, HOSTPID_TIER_CHALLENGE) && device.faultless() && !noise.dry &&
               elapsed_ns < int64_t{options.deadline_ms} * 1'000'000,
           "nothing stood in the challenge's way, but the NVML PID is not known");
  return verdict;
}

Exploration explore(uint64_t seed, uint64_t first, uint64_t count) {
  Exploration found;
  found.seed = seed;
  const auto memory = std::make_unique<ChallengeMemory>();
  for (uint64_t i = first; i < first + count; ++i) {
    const uint64_t own_seed = Random(Random(seed).next() + i).next();
    const Verdict verdict = discover_in_world(own_seed, &found.situations, memory.get());
    ++found.discoveries;
    found.claims += verdict.claimed ? 1 : 0;
    if (verdict.wrong.empty()) continue;
    ++found.wrong;
    if (found.first_wrong.empty())
      found.first_wrong = "discovery " + std::to_string(i) + ": " + verdict.wrong;
  }
  return found;
}

}  // namespace rollcall::model
