// All that happens between two calls of the driver happens in move(), just before the
// later one takes effect: whatever a neighbour does, it does it there.
#include "model/simulated_device.h"

#include <algorithm>
#include <iterator>

namespace rollcall::model {

using namespace hostpid;

namespace {

constexpr uint64_t kContextBytes = 518ULL << 20;
constexpr uint64_t kPointer = 0x7f0000000000;
constexpr uint32_t kRow = kChallengeRule.winning_rounds;
// So much that a neighbour can fall in every round.
constexpr uint64_t kNeighbourBytes =
    kContextBytes + kChallengeRule.max_rounds * largest_bytes(kChallengeRule);

// One of the amounts that the rule could draw.
uint64_t draw_bytes(Random* random, uint64_t last) {
  const uint64_t bytes = (1 + random->below(kChallengeRule.choices)) * kStepBytes;
  return last != 0 && bytes >= last ? bytes + kStepBytes : bytes;
}

SimulatedDevice& of(void* self) {
  return *static_cast<SimulatedDevice*>(self);
}

}  // namespace

SimulatedDevice::SimulatedDevice(Random* random, WorldTime* time, Situations* situations,
                                 const DeviceTruth& truth, ChallengeMemory* memory)
    : random_(*random), time_(*time), situations_(*situations), truth_(truth), memory_(memory) {
  if (random_.one_in(4)) fault_in_256_ = 1 + random_.below(32);
  own_entry_ = random_.one_in(2) ? OwnEntry::kListed : static_cast<OwnEntry>(random_.below(4));
  own_from_list_ = random_.below(160);
  own_disturbed_ = random_.one_in(8);
  own_sure_ = own_entry_ == OwnEntry::kListed && !own_disturbed_;
  memory_told_ = !random_.one_in(64);
  free_bytes_ = random_.one_in(32) ? random_.below(512ULL << 20) : 64ULL << 30;
  own_base_bytes_ = kContextBytes;
  const uint64_t count = random_.one_in(32) ? random_.below(40) : random_.below(7);
  for (uint64_t i = 0; i < count; ++i) neighbours_.push_back(newcomer());
  if (truth_.other_pid != 0 && count > 0 && random_.one_in(2)) {
    neighbours_[0].pid = truth_.other_pid;
    situations_.saw(Situation::kNeighbourCalledLikeUs);
  }
}

void SimulatedDevice::pass_time() {
  time_.now_ns += static_cast<int64_t>(random_.below(static_cast<uint64_t>(time_.longest_call_ns) + 1));
}

uint32_t SimulatedDevice::fresh_pid() {
  for (;;) {
    const auto pid = static_cast<uint32_t>(2 + random_.below(1 << 22));
    const bool taken =
        std::any_of(neighbours_.begin(), neighbours_.end(), [=](const Neighbour& n) { return n.pid == pid; });
    if (!taken && pid != truth_.listed_pid && pid != truth_.other_pid) return pid;
  }
}

SimulatedDevice::Neighbour SimulatedDevice::newcomer() {
  Neighbour neighbour;
  neighbour.habit = static_cast<Habit>(random_.below(static_cast<uint64_t>(Habit::kLast) + 1));
  neighbour.base_bytes =
      random_.one_in(16) ? kMemoryUnknown : kNeighbourBytes + random_.below(64) * kStepBytes;
  neighbour.pid = fresh_pid();
  if (!vacant_.empty() && random_.one_in(2)) {
    neighbour.pid = vacant_.back();
    vacant_.pop_back();
    if (before_.count(neighbour.pid) != 0) situations_.saw(Situation::kPidReusedInARound);
    // The worst that can come in somebody's place: one who goes on where that one was.
    if (before_.count(neighbour.pid) != 0 && random_.one_in(2)) neighbour.base_bytes = before_[neighbour.pid];
  }
  return neighbour;
}

void SimulatedDevice::come_and_go() {
  for (size_t i = 0; i < neighbours_.size(); ++i) {
    if (neighbours_[i].habit != Habit::kChurner || !random_.one_in(4)) continue;
    vacant_.push_back(neighbours_[i].pid);
    neighbours_.erase(neighbours_.begin() + static_cast<long>(i));
    if (random_.one_in(2)) neighbours_.push_back(newcomer());
    return;
  }
  if (neighbours_.size() < 4 && random_.one_in(16)) neighbours_.push_back(newcomer());
}

// See the head of the header.
bool SimulatedDevice::may_copy(uint32_t pid) const {
  if (own_sure_) return true;
  const auto found = row_.find(pid);
  return found == row_.end() || found->second < kRow - 1;
}

void SimulatedDevice::move_one(Neighbour* neighbour, Moment moment) {
  const bool may_follow = may_copy(neighbour->pid);
  // Just as the own entry, whose change since the last list is this.
  const auto follow = [&] {
    neighbour->held_bytes += asked_bytes_ - last_asked_bytes_;
    row_forced_[neighbour->pid] = true;
    copied_ = true;
  };
  const auto forced = row_forced_.find(neighbour->pid);
  // With copied answers behind it, a lucky one would be one too many.
  const bool no_luck = !own_sure_ && forced != row_forced_.end() && forced->second;
  switch (neighbour->habit) {
    case Habit::kQuiet:
    case Habit::kChurner:
      return;
    case Habit::kLockstep:  // by one of the differences that we could draw, all as likely
      if (moment == Moment::kWhileHeld && !no_luck) {
        neighbour->held_bytes += draw_bytes(&random_, last_asked_bytes_) - last_asked_bytes_;
      }
      return;
    case Habit::kRandomPhase:
      if (random_.one_in(2) && !no_luck)
        neighbour->held_bytes = neighbour->held_bytes != 0 ? 0 : draw_bytes(&random_, 0);
      return;
    case Habit::kChallenger:  // frees when we free, allocates when we do
      if (no_luck) return;
      if (moment == Moment::kBeforeRelease) {
        neighbour->last_held_bytes = neighbour->held_bytes;
        neighbour->held_bytes = 0;
      }
      if (moment == Moment::kBeforeAllocation)
        neighbour->held_bytes = draw_bytes(&random_, neighbour->last_held_bytes);
      return;
    case Habit::kRisesAlong:  // and stays up for a while
      if (moment == Moment::kBeforeAllocation && random_.one_in(8) && !no_luck) neighbour->held_bytes = 0;
      if (moment == Moment::kWhileHeld && asked_bytes_ > last_asked_bytes_ && may_follow && random_.one_in(2))
        follow();
      return;
    case Habit::kMimic:
      if (moment == Moment::kWhileHeld && may_follow && !random_.one_in(24)) follow();
      return;
  }
}

void SimulatedDevice::move(Moment moment) {
  pass_time();
  come_and_go();
  for (Neighbour& neighbour : neighbours_) move_one(&neighbour, moment);
  if (own_disturbed_ && random_.one_in(32)) own_base_bytes_ += kStepBytes;
}

bool SimulatedDevice::own_shows() {
  switch (own_entry_) {
    case OwnEntry::kListed:
      return true;
    case OwnEntry::kNever:
      return false;
    case OwnEntry::kLate:
      return lists_ >= own_from_list_;
    case OwnEntry::kFlickers:
      return !random_.one_in(16);
  }
  return true;
}

ListResult SimulatedDevice::list(ListedProcess* entries, size_t* count) {
  if (!current_) misuse_ = "listed without a context";
  move(held_bytes_ != 0 ? Moment::kWhileHeld : Moment::kOutside);
  *count = 0;
  Listing listing;
  const auto add = [&](uint32_t pid, uint64_t bytes) {
    listing[pid] = bytes;
    entries[(*count)++] = {pid, memory_told_ ? bytes : kMemoryUnknown};
  };
  for (const Neighbour& n : neighbours_)
    add(n.pid, n.base_bytes == kMemoryUnknown ? n.base_bytes : n.base_bytes + n.held_bytes);
  if (own_shows()) add(truth_.listed_pid, own_base_bytes_ + held_bytes_);
  if (*count > 1 && random_.one_in(2)) std::swap(entries[0], entries[random_.below(*count)]);
  if (!memory_told_ && *count != 0) situations_.saw(Situation::kMemoryNotReported);

  if (lists_ != 0) {
    if (held_bytes_ == 0) misuse_ = "listed a second time with nothing allocated";
    look_at_round(listing);
  }
  before_ = listing;
  last_asked_bytes_ = asked_bytes_;
  ++lists_;
  if (!fails()) return ListResult::kOk;
  switch (random_.below(4)) {
    case 0:
      return ListResult::kFailed;
    case 1:
      situations_.saw(Situation::kListTruncated);
      return ListResult::kTruncated;
    case 2:  // as long as the longest, and no word that there were more
      situations_.saw(Situation::kListTruncated);
      for (uint32_t pid = 1 << 23; *count < kMaxListed; ++pid) entries[(*count)++] = {pid, kContextBytes};
      return ListResult::kOk;
    default:
      if (*count == 0) return ListResult::kOk;
      situations_.saw(Situation::kOnePidTwice);
      entries[*count] = entries[random_.below(*count)];
      ++*count;
      return ListResult::kOk;
  }
}

// The rule once more, in the plainest way, to see where the search has been.
void SimulatedDevice::look_at_round(const Listing& after) {
  uint32_t candidates = 0;
  std::map<uint32_t, uint32_t> row;
  std::map<uint32_t, bool> forced;
  const uint64_t change = asked_bytes_ - last_asked_bytes_;
  const bool own_missing = before_.count(truth_.listed_pid) + after.count(truth_.listed_pid) == 0;
  if (own_missing) situations_.saw(Situation::kOwnEntryMissing);
  for (const auto& [pid, bytes] : after) {
    const auto first = before_.find(pid);
    if (first == before_.end() || bytes != first->second + change) continue;
    if (pid != truth_.listed_pid && asked_bytes_ > last_asked_bytes_)
      situations_.saw(Situation::kSameRiseSameWindow);
    ++candidates;
    row[pid] = row_[pid] + 1;
    forced[pid] = row_forced_[pid];
    if (row[pid] == kRow - 1 && own_missing) situations_.saw(Situation::kOneRoundShort);
  }
  if (candidates > 1) situations_.saw(Situation::kTwoCandidates);
  row_ = std::move(row);
  row_forced_ = std::move(forced);
}

AllocateResult SimulatedDevice::allocate(uint64_t bytes, uint64_t* pointer) {
  if (!current_) misuse_ = "allocated without a context";
  if (held_bytes_ != 0) misuse_ = "allocated twice";
  if (bytes == 0 || bytes > largest_bytes(kChallengeRule) || bytes % kStepBytes != 0) misuse_ = "odd amount";
  if (bytes == last_asked_bytes_) misuse_ = "asked for the same amount again";
  asked_bytes_ = bytes;
  move(Moment::kBeforeAllocation);
  if (fails()) {
    if (!random_.one_in(2)) return AllocateResult::kFailed;
    situations_.saw(Situation::kOutOfMemory);
    return AllocateResult::kNoMemory;
  }
  held_bytes_ = bytes;
  *pointer = kPointer + lists_;
  return AllocateResult::kOk;
}

bool SimulatedDevice::release(uint64_t pointer) {
  if (!current_) misuse_ = "freed without a context";
  if (pointer != kPointer + lists_ - 1 || held_bytes_ == 0) misuse_ = "freed what is not its own";
  if (release_failed_) misuse_ = "freed again after a failure";
  move(Moment::kBeforeRelease);
  if (fails() && random_.one_in(2)) {
    situations_.saw(Situation::kMemoryNotFreed);
    release_failed_ = true;
    return false;
  }
  held_bytes_ = 0;
  return true;
}

Reason SimulatedDevice::prepare(ChallengeDriver* driver, ChallengeMemory** memory) {
  pass_time();
  ++prepared_;
  current_ = !random_.one_in(2);  // how far it gets where it fails
  constexpr Reason kRefusals[] = {Reason::kDriverIncomplete,
                                  Reason::kNvmlUnavailable,
                                  Reason::kDeviceNotPaired,
                                  Reason::kMig,
                                  Reason::kMps,
                                  Reason::kContextFailed};
  refused_ = random_.one_in(32);
  if (refused_) return kRefusals[random_.below(std::size(kRefusals))];
  current_ = true;
  driver->self = this;
  driver->list = [](void* self, ListedProcess* entries, size_t* count) {
    return of(self).list(entries, count);
  };
  driver->allocate = [](void* self, uint64_t bytes, uint64_t* pointer) {
    return of(self).allocate(bytes, pointer);
  };
  driver->release = [](void* self, uint64_t pointer) { return of(self).release(pointer); };
  driver->free_bytes = [](void* self, uint64_t* bytes) {
    SimulatedDevice& device = of(self);
    device.pass_time();
    *bytes = device.free_bytes_;
    const bool known = !device.fails();
    if (!known || *bytes < 4 * largest_bytes(kChallengeRule))
      device.situations_.saw(Situation::kTooLittleFree);
    return known;
  };
  *memory = memory_;
  return Reason::kNone;
}

ChallengeSite SimulatedDevice::site() {
  ChallengeSite site;
  site.self = this;
  site.prepare = [](void* self, ChallengeDriver* driver, ChallengeMemory** memory) {
    return of(self).prepare(driver, memory);
  };
  site.restore = [](void* self) {
    ++of(self).restored_;
    of(self).current_ = false;
  };
  return site;
}

}  // namespace rollcall::model
