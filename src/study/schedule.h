// The order of the runs. Interleaved by default, so that whatever drifts on the
// machine meets every condition alike; seeded, so that it can be repeated.
#pragma once

#include <string>
#include <vector>

#include "evidence/topology.h"
#include "study/plan.h"

namespace rollcall::study {

struct PlannedRun {
  int number = 0;  // from 1
  evidence::Topology topology;
  std::string arm;
  int repetition = 0;  // from 1

  [[nodiscard]] std::string id() const;
};

// Every topology with every arm, `runs` times. Interleaved: each repetition is a
// round of all conditions in an order drawn from the seed. Blocked: all
// repetitions of a condition follow each other, in the order of the plan.
std::vector<PlannedRun> make_schedule(const Plan& plan);

}  // namespace rollcall::study
