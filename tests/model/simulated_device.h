// A device on which this process challenges, with neighbours that come, go and allocate
// at the worst moment, and a driver that can fail in every call.
//
// Some neighbours *know* what was asked for and change along with the own entry:
// not because a real one could, but because a coincidence of that kind comes once in
// thirty-two rounds and the explorer wants many. The bound of docs/identity.md is about
// neighbours that do not know; so that nothing here happens that it gives no room for,
// no PID is made to answer in as many rounds as win, unless the own entry answers them
// all, too.
#pragma once

#include <map>
#include <vector>

#include "hostpid/tiers.h"
#include "model/random.h"
#include "model/situations.h"

namespace rollcall::model {

struct DeviceTruth {
  uint32_t listed_pid = 0;  // this process, as NVML lists it to itself
  uint32_t other_pid = 0;   // another number of this process, under which it is not listed; or 0
};

class SimulatedDevice {
 public:
  SimulatedDevice(Random* random, WorldTime* time, Situations* situations, const DeviceTruth& truth,
                  hostpid::ChallengeMemory* memory);
  hostpid::ChallengeSite site();

  // At the end.
  [[nodiscard]] bool allocation_left() const { return held_bytes_ != 0 && !release_failed_; }
  [[nodiscard]] bool release_failed() const { return release_failed_; }
  // Nothing but time and a coincidence of 32^-7 can keep the own entry from being found.
  [[nodiscard]] bool faultless() const {
    return fault_in_256_ == 0 && own_sure_ && memory_told_ && !copied_ && !refused_ &&
           free_bytes_ >= 4 * hostpid::largest_bytes(hostpid::kChallengeRule);
  }
  [[nodiscard]] bool restored() const { return prepared_ == restored_ && !current_; }
  // A call of the driver that the rules forbid, such as one without a context.
  [[nodiscard]] const char* misuse() const { return misuse_; }

 private:
  enum class Habit {
    kQuiet,
    kChurner,
    kLockstep,
    kRandomPhase,
    kChallenger,
    kRisesAlong,
    kMimic,
    kLast = kMimic
  };
  enum class OwnEntry { kListed, kNever, kLate, kFlickers };
  // When neighbours move: before each call of the driver.
  enum class Moment { kOutside, kBeforeAllocation, kWhileHeld, kBeforeRelease };
  struct Neighbour {
    uint32_t pid = 0;
    Habit habit = Habit::kQuiet;
    uint64_t base_bytes = 0;
    uint64_t held_bytes = 0;
    uint64_t last_held_bytes = 0;  // of kChallenger, before it freed
  };
  using Listing = std::map<uint32_t, uint64_t>;

  void pass_time();
  bool fails() { return fault_in_256_ != 0 && random_.below(256) < fault_in_256_; }
  Neighbour newcomer();
  uint32_t fresh_pid();
  void come_and_go();
  void move(Moment moment);
  void move_one(Neighbour* neighbour, Moment moment);
  [[nodiscard]] bool may_copy(uint32_t pid) const;
  [[nodiscard]] bool own_shows();
  hostpid::ListResult list(hostpid::ListedProcess* entries, size_t* count);
  void look_at_round(const Listing& after);
  hostpid::Reason prepare(hostpid::ChallengeDriver* driver, hostpid::ChallengeMemory** memory);
  hostpid::AllocateResult allocate(uint64_t bytes, uint64_t* pointer);
  bool release(uint64_t pointer);

  Random& random_;
  WorldTime& time_;
  Situations& situations_;
  DeviceTruth truth_;
  hostpid::ChallengeMemory* memory_;

  uint64_t fault_in_256_ = 0;
  OwnEntry own_entry_ = OwnEntry::kListed;
  size_t own_from_list_ = 0;
  bool own_disturbed_ = false;  // another thread of this process allocates, too
  bool own_sure_ = false;       // the own entry answers every round
  bool memory_told_ = true;
  uint64_t free_bytes_ = 0;
  std::vector<Neighbour> neighbours_;
  std::vector<uint32_t> vacant_;  // PIDs of those who went

  uint64_t own_base_bytes_ = 0;
  uint64_t held_bytes_ = 0;
  uint64_t asked_bytes_ = 0;       // in this round
  uint64_t last_asked_bytes_ = 0;  // in the one before, whose list is the last one
  size_t lists_ = 0;
  Listing before_;                       // the last list
  std::map<uint32_t, uint32_t> row_;     // rounds that a PID has answered, as the model sees it
  std::map<uint32_t, bool> row_forced_;  // one of them was no coincidence

  bool copied_ = false;   // a neighbour that knew what was asked for
  bool refused_ = false;  // before the first round
  bool release_failed_ = false;
  bool current_ = false;
  int prepared_ = 0;
  int restored_ = 0;
  const char* misuse_ = nullptr;
};

}  // namespace rollcall::model
