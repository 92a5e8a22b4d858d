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
// So high does a neighbour in lockstep begin that it can fall in every round.
constexpr uint16_t kLockstepBegins = 32768;

// Of a neighbour's 16 random bits five say what it does, the others by how much.
uint16_t choice_mask(const ChallengeRule& rule, const CrowdSettings& settings) {
  return settings.constant_choice ? uint16_t{0} : static_cast<uint16_t>((rule.choices - 1) & 0x7FF);
}

// As the rule draws it: any amount but the last one.
uint16_t draw_steps(uint16_t bits, uint16_t mask, uint16_t last) {
  const auto steps = static_cast<uint16_t>(1 + ((bits >> 5) & mask));
  const auto skips = static_cast<uint16_t>(static_cast<int>(last != 0) & static_cast<int>(steps >= last));
  return static_cast<uint16_t>(steps + skips);
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
  const bool lockstep = settings_.drift_in_16 == 0;
  const uint16_t mask = choice_mask(rule_, settings_);
  for (size_t i = 0; i < held_steps_.size(); ++i) {
    const bool holds = (bits_[i] & 1) != 0;
    held_steps_[i] = lockstep ? kLockstepBegins : holds ? draw_steps(bits_[i], mask, 0) : uint16_t{0};
  }
}

// What the neighbours do between two of our lists. In words of one width and without
// branches, so that the compiler makes vectors of it: this is where the time goes.
void Crowd::advance() {
  draw_bits();
  const auto drift = static_cast<uint16_t>(settings_.drift_in_16);
  const uint16_t on_its_own = drift != 0 ? 0xFFFF : 0;
  const auto ours = static_cast<uint16_t>(drift != 0 ? 0 : own_bytes_listed_ / kStepBytes);
  const uint16_t mask = choice_mask(rule_, settings_);
  const size_t count = held_steps_.size();
  for (size_t i = 0; i < count; ++i) {
    const uint16_t bits = bits_[i];
    const uint16_t held = held_steps_[i];
    const auto last = static_cast<uint16_t>(ours | (held & on_its_own));
    const auto whole = static_cast<uint16_t>(held + draw_steps(bits, mask, last) - last);
    const uint16_t is_whole = (bits & 15) >= drift ? 0xFFFF : 0;
    const uint16_t is_half = (bits & 16) != 0 ? 0xFFFF : 0;
    const uint16_t is_held = held != 0 ? 0xFFFF : 0;
    const auto half = static_cast<uint16_t>(whole & ~is_held);  // with nothing held, it is the allocation
    const auto other = static_cast<uint16_t>((half & is_half) | (held & ~is_half));
    held_steps_[i] = static_cast<uint16_t>((whole & is_whole) | (other & ~is_whole));
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
  own_bytes_listed_ = own_bytes_;
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
         std::pow(rule.choices, -1.0 * rule.winning_rounds);
}

double lockstep_error(const ChallengeRule& rule, uint32_t neighbours) {
  const uint32_t n = rule.winning_rounds;
  const double row = std::pow(rule.choices, -1.0 * n);
  const double miss = 1.0 - 1.0 / rule.choices;
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
