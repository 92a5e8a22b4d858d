// See the header. The neighbours are listed in ascending order of their PIDs 1 … M, the
// watched process behind them, so that the rule need not sort.
#include "model/challenge_crowd.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rollcall::model {

using namespace hostpid;

namespace {

constexpr uint64_t kContextBytes = 518ULL << 20;
constexpr uint64_t kDeviceBytes = 139ULL << 30;

// Of a neighbour's 16 random bits five say what it does, the others by how much.
uint16_t step_mask(const ChallengeRule& rule, const CrowdSettings& settings) {
  return settings.constant_amounts ? uint16_t{0} : static_cast<uint16_t>((rule.steps - 1) & 0x7FF);
}

uint16_t fresh_steps(uint16_t bits, uint16_t mask) {
  return static_cast<uint16_t>(1 + ((bits >> 5) & mask));
}

}  // namespace

Crowd::Crowd(const CrowdSettings& settings, const ChallengeRule& rule, uint64_t seed)
    : settings_(settings),
      rule_(rule),
      random_(seed),
      held_steps_(settings.neighbours),
      bits_((settings.neighbours + 3) / 4 * 4),
      memory_(std::make_unique<ChallengeMemory>()) {}

void Crowd::draw_bits() {
  for (size_t i = 0; i < bits_.size(); i += 4) {
    const uint64_t word = random_.next();
    memcpy(&bits_[i], &word, sizeof word);
  }
}

void Crowd::begin() {
  first_list_ = true;
  draw_bits();
  for (size_t i = 0; i < held_steps_.size(); ++i) {
    const bool holds = settings_.drift_in_16 != 0 && (bits_[i] & 1) != 0;
    held_steps_[i] = holds ? fresh_steps(bits_[i], step_mask(rule_, settings_)) : uint16_t{0};
  }
}

// What the neighbours do between two of our lists. In words of one width and without
// branches, so that the compiler makes vectors of it: this is where the time goes.
void Crowd::advance() {
  draw_bits();
  const auto drift = static_cast<uint16_t>(settings_.drift_in_16);
  const uint16_t mask = step_mask(rule_, settings_);
  const size_t count = held_steps_.size();
  for (size_t i = 0; i < count; ++i) {
    const uint16_t bits = bits_[i];
    const uint16_t held = held_steps_[i];
    const uint16_t fresh = fresh_steps(bits, mask);
    const uint16_t one_step = (bits & 15) >= drift ? 0xFFFF : 0;
    const uint16_t two_steps = (bits & 16) != 0 ? 0xFFFF : 0;  // a free and an allocation
    const uint16_t is_held = held != 0 ? 0xFFFF : 0;
    const uint16_t after_one = fresh & ~is_held;
    const uint16_t after_other = (fresh & is_held & two_steps) | (held & ~two_steps);
    held_steps_[i] = (after_one & one_step) | (after_other & ~one_step);
  }
}

void Crowd::list(ListedProcess* entries, size_t* count) {
  if (!first_list_) advance();
  first_list_ = false;
  *count = 0;
  for (const uint16_t held : held_steps_) {
    const auto pid = static_cast<uint32_t>(*count + 1);
    entries[(*count)++] = {pid, kContextBytes + held * kStepBytes};
  }
  if (settings_.own_listed) entries[(*count)++] = {settings_.neighbours + 1, kContextBytes + own_bytes_};
}

ChallengeResult Crowd::attempt() {
  begin();
  ChallengeDriver driver;
  driver.self = this;
  driver.list = [](void* self, ListedProcess* entries, size_t* count) {
    static_cast<Crowd*>(self)->list(entries, count);
    return ListResult::kOk;
  };
  driver.allocate = [](void* self, uint64_t bytes, uint64_t* pointer) {
    static_cast<Crowd*>(self)->own_bytes_ = bytes;
    *pointer = 1;
    return AllocateResult::kOk;
  };
  driver.release = [](void* self, uint64_t) {
    static_cast<Crowd*>(self)->own_bytes_ = 0;
    return true;
  };
  driver.free_bytes = [](void*, uint64_t* bytes) {
    *bytes = kDeviceBytes;
    return true;
  };
  Clock clock;
  clock.now_ns = [](void*) { return int64_t{0}; };
  RandomSource random;
  random.self = this;
  random.fill = [](void* self, void* bytes, size_t size) {
    const uint64_t word = static_cast<Crowd*>(self)->random_.next();
    memcpy(bytes, &word, size);
    return true;
  };
  return challenge(rule_, driver, clock, random, 1, memory_.get());
}

double error_bound(const ChallengeRule& rule, uint32_t neighbours) {
  return neighbours * (rule.max_rounds - rule.winning_rounds + 1.0) *
         std::pow(rule.steps, -1.0 * rule.winning_rounds);
}

double lockstep_error(const ChallengeRule& rule, uint32_t neighbours) {
  const uint32_t n = rule.winning_rounds;
  const double row = std::pow(rule.steps, -1.0 * n);
  const double miss = 1.0 - 1.0 / rule.steps;
  // not_yet[r]: one neighbour has no row of n among its first r rounds.
  std::vector<double> not_yet(rule.max_rounds + 1, 1.0);
  double wrong = 0;
  for (uint32_t r = n; r <= rule.max_rounds; ++r) {
    const double now = r == n ? row : not_yet[r - n - 1] * miss * row;
    not_yet[r] = not_yet[r - 1] - now;
    wrong += neighbours * now * std::pow(not_yet[r], neighbours - 1.0);
  }
  return wrong;
}

}  // namespace rollcall::model
