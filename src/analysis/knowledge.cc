// Right and wrong are what classify() says of each number. What is left is told apart by
// what the shim said: that it does not know is an answer, no evidence is none.
#include "analysis/knowledge.h"

#include "analysis/classify.h"
#include "analysis/roster.h"

namespace rollcall::analysis {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

void count(const Discovery& discovery, std::optional<Class> cls, bool claimed, const std::string& tier,
           const std::string& reason, NumberKnowledge& number) {
  if (cls == Class::kSelf) {
    ++number.right;
    if (!tier.empty()) ++number.tiers[tier];
  } else if (cls) {
    ++number.wrong;
  } else {
    const bool says_something =
        discovery.state == DiscoveryState::kAssigned || discovery.state == DiscoveryState::kFailed;
    ++(says_something && !claimed ? number.missing : number.unresolved);
    if (!claimed && !reason.empty()) ++number.reasons[reason];
  }
}

// A source of one number has one tier, and one reason why it says nothing; they are of both.
void count_worker(const Classified& classified, const Discovery& discovery, Knowledge& knowledge) {
  const bool assigned = discovery.state == DiscoveryState::kAssigned;
  const bool two = tells_two_numbers(discovery);
  const bool nvml_claimed = two ? discovery.assigned_nvml_pid.has_value() : assigned;
  const std::string& nvml_reason = two ? discovery.nvml_reason : discovery.reason;
  count(discovery, classified.host_class, assigned && discovery.assigned_pid, discovery.tier,
        discovery.reason, knowledge.host);
  count(discovery, classified.nvml_class, nvml_claimed, two ? discovery.nvml_tier : discovery.tier,
        nvml_reason, knowledge.nvml);
}

}  // namespace

Knowledge knowledge_of(const std::vector<const evidence::Run*>& runs) {
  static const Discovery kNothing;
  Knowledge knowledge;
  for (const evidence::Run* run : runs) {
    const Roster roster(*run);
    for (const Classified& one : classify(*run)) {
      const evidence::WorkerRecord* worker = roster.record(one.worker);
      count_worker(one, worker != nullptr ? worker->discovery : kNothing, knowledge);
    }
  }
  return knowledge;
}

}  // namespace rollcall::analysis
