// Which numbers the workers know, of an arm that claims two: a host PID and an NVML PID.
// A worker is `self` if every number that it claims is right, so the classes alone do
// not tell whether it knows one of them or both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

// One of the two numbers, over workers. The four counts sum to the workers.
struct NumberKnowledge {
  int right = 0;
  int wrong = 0;                       // it is another worker's, or nobody's
  int unresolved = 0;                  // claimed and cannot be judged, or what is claimed could not be read
  int missing = 0;                     // the shim says that it does not know it
  std::map<std::string, int> tiers;    // of those that are right: how often by each
  std::map<std::string, int> reasons;  // of those missing and unresolved, where one is given
  friend bool operator==(const NumberKnowledge&, const NumberKnowledge&) = default;
};

struct Knowledge {
  NumberKnowledge host;
  NumberKnowledge nvml;
  friend bool operator==(const Knowledge&, const Knowledge&) = default;
};

// Of all workers of these runs, which are valid and of the kind `both`.
Knowledge knowledge_of(const std::vector<const evidence::Run*>& runs);

}  // namespace rollcall::analysis
