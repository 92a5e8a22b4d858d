// See conditions.h.
#include "analysis/conditions.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analysis/validity.h"

namespace rollcall::analysis {
namespace {

using evidence::Run;
using evidence::RunRecord;

ConditionRuns& condition_of(const RunRecord& record, std::vector<ConditionRuns>& conditions) {
  for (ConditionRuns& c : conditions) {
    if (record.topology == c.topology && record.arm == c.arm && record.has_shim == c.has_shim &&
        record.workload == c.workload && record.hold == c.hold) {
      return c;
    }
  }
  conditions.push_back({record.topology,
                        record.arm,
                        record.has_shim,
                        record.discovers(),
                        record.identity_kind,
                        record.workload,
                        record.hold,
                        {},
                        {}});
  return conditions.back();
}

}  // namespace

std::vector<const Run*> in_order(const std::vector<Run>& runs) {
  std::vector<const Run*> result;
  for (const Run& run : runs) result.push_back(&run);
  std::stable_sort(result.begin(), result.end(),
                   [](const Run* a, const Run* b) { return a->record.number < b->record.number; });
  return result;
}

std::vector<ConditionRuns> conditions_of(const std::vector<Run>& runs) {
  std::vector<ConditionRuns> conditions;
  for (const Run* run : in_order(runs)) {
    ConditionRuns& condition = condition_of(run->record, conditions);
    (invalid_reasons(*run).empty() ? condition.valid : condition.invalid).push_back(run);
  }
  const auto rank = [](const ConditionRuns& c) {
    return std::tuple(c.topology, c.has_shim, std::string_view(c.arm));
  };
  std::stable_sort(conditions.begin(), conditions.end(),
                   [&](const ConditionRuns& a, const ConditionRuns& b) { return rank(a) < rank(b); });
  return conditions;
}

}  // namespace rollcall::analysis
