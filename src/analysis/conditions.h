// The runs of an experiment, sorted into conditions: what was run with what. The
// summary, the statistics and the comparison of two experiments all count over these.
#pragma once

#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

struct ConditionRuns {
  evidence::Topology topology;
  std::string arm;
  bool has_shim = false;
  bool discovers = false;  // has classes: not without a shim, and not where it is only timed
  evidence::IdentityKind identity_kind = evidence::IdentityKind::kNone;  // of its first run
  evidence::Workload workload = evidence::Workload::kInit;
  evidence::Hold hold = evidence::Hold::kNone;
  // In the order of run numbers; they point into what conditions_of() was given.
  std::vector<const evidence::Run*> valid;
  std::vector<const evidence::Run*> invalid;
};

// By topology, then arms without a shim, then by name: an order that does not depend on
// the one in which the runs were drawn. A condition without a valid run is there, too.
std::vector<ConditionRuns> conditions_of(const std::vector<evidence::Run>& runs);

// The runs in the order of their numbers.
std::vector<const evidence::Run*> in_order(const std::vector<evidence::Run>& runs);

// The arm that others are compared with; it has no shim.
inline constexpr const char* kNativeArm = "native";

// The condition of the arm `native` that this one can be compared with: same topology,
// workload and hold. Null for a native one, and where there is none.
template <typename Condition>
const Condition* native_like(const Condition& condition, const std::vector<Condition>& conditions) {
  if (condition.arm == kNativeArm) return nullptr;
  for (const Condition& other : conditions) {
    if (other.arm == kNativeArm && other.topology == condition.topology &&
        other.workload == condition.workload && other.hold == condition.hold) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace rollcall::analysis
