// A device on which many processes challenge back to back, and one of them is watched:
// what does the rule claim for it, above all where its own entry is missing? Shared by
// the property test, where small ranges make errors happen, and the benchmark, where
// the real rule must not make one in millions of attempts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hostpid/challenge.h"
#include "model/random.h"

namespace rollcall::model {

struct CrowdSettings {
  uint32_t neighbours = 100;
  bool own_listed = false;
  // 0: lockstep, the worst case of coincidence. Between any two of our lists each changes
  // by one of the differences that we could draw, all of them as likely, as if it held
  // what we did: all that may be known at our last list.
  // Otherwise each challenges on its own: as a rule once between two of our lists
  // (its memory freed, and another amount allocated), but this often in 16 not at all or
  // only half of it (a free or an allocation). 16: never the whole.
  uint32_t drift_in_16 = 0;
  // In lockstep, always the same choice rather than a fresh one: all the chance is ours.
  bool constant_choice = false;
};

class Crowd {
 public:
  // At most 2048 choices, and in lockstep choices * max_rounds up to 32768.
  Crowd(const CrowdSettings& settings, const hostpid::ChallengeRule& rule, uint64_t seed);

  // One attempt, among neighbours that are in the middle of theirs.
  hostpid::ChallengeResult attempt();
  [[nodiscard]] bool is_own(uint32_t pid) const { return pid == settings_.neighbours + 1; }

 private:
  void draw_bits();
  void begin();
  void advance();
  void list(hostpid::ListedProcess* entries, size_t* count);

  CrowdSettings settings_;
  hostpid::ChallengeRule rule_;
  Random random_;
  std::vector<uint16_t> held_steps_;  // of each neighbour
  std::vector<uint16_t> bits_;        // random, for each
  uint64_t own_bytes_ = 0;
  uint64_t own_bytes_listed_ = 0;  // at our last list
  bool first_list_ = true;
  std::unique_ptr<hostpid::ChallengeMemory> memory_;
};

// docs/identity.md, "The challenge": the bound on a wrong claim with the own entry
// missing, whatever the neighbours do without knowing k; and what it is exactly where
// they are in lockstep.
double error_bound(const hostpid::ChallengeRule& rule, uint32_t neighbours);
double lockstep_error(const hostpid::ChallengeRule& rule, uint32_t neighbours);

}  // namespace rollcall::model
