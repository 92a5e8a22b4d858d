// Matching the conditions of two experiments, and what is said of each pair.
#include "analysis/compare.h"

#include <algorithm>

#include "analysis/judge.h"
#include "analysis/measures.h"

namespace rollcall::analysis {
namespace {

using Values = std::vector<double>;

ConditionName name_of(const ConditionRuns& c) {
  return {c.topology, c.arm, c.workload, c.hold};
}

template <typename Function>
Values values_over(const ConditionRuns& condition, Function measure) {
  Values values;
  for (const evidence::Run* run : condition.valid) {
    if (const std::optional<double> value = measure(*run)) values.push_back(*value);
  }
  return values;
}

WrongIdentities wrong_identities(const ConditionRuns& condition) {
  WrongIdentities result;
  for (const auto* runs : {&condition.valid, &condition.invalid}) {
    for (const evidence::Run* run : *runs) {
      const ClassCounts counts = count_classes(classify(*run));
      result.wrong += counts.of(Class::kPeer) + counts.of(Class::kExternal);
      result.workers += counts.total();
    }
  }
  return result;
}

// The classes of a condition's valid runs, and their shares of each run.
struct Shares {
  ClassCounts counts;
  std::array<Values, kClasses.size()> of;
};

Shares shares_of(const ConditionRuns& condition) {
  Shares shares;
  for (const evidence::Run* run : condition.valid) {
    const ClassCounts counts = count_classes(classify(*run));
    if (counts.total() == 0) continue;
    for (size_t i = 0; i < kClasses.size(); ++i) {
      shares.counts.count[i] += counts.count[i];
      shares.of[i].push_back(static_cast<double>(counts.count[i]) / counts.total());
    }
  }
  return shares;
}

std::vector<ClassComparison> compare_classes(const ConditionRuns& a, const ConditionRuns& b) {
  const Shares in_a = shares_of(a);
  const Shares in_b = shares_of(b);
  std::vector<ClassComparison> result;
  for (const Class value :
       {Class::kSelf, Class::kPeer, Class::kDiscoveryFailed, Class::kExternal, Class::kUnresolved}) {
    const auto index = static_cast<size_t>(value);
    ClassComparison one = judge_shares(value, in_a.of[index], in_b.of[index]);
    one.count_a = in_a.counts.of(value);
    one.count_b = in_b.counts.of(value);
    one.workers_a = in_a.counts.total();
    one.workers_b = in_b.counts.total();
    result.push_back(one);
  }
  return result;
}

ConditionComparison compare_conditions(const ConditionRuns& a, const ConditionRuns& b) {
  ConditionComparison result;
  result.a = name_of(a);
  result.b = name_of(b);
  result.valid_a = static_cast<int>(a.valid.size());
  result.invalid_a = static_cast<int>(a.invalid.size());
  result.valid_b = static_cast<int>(b.valid.size());
  result.invalid_b = static_cast<int>(b.invalid.size());
  result.wrong_a = wrong_identities(a);
  result.wrong_b = wrong_identities(b);
  if (!result.comparable()) return result;
  for (const TimeMeasure& measure : time_measures()) {
    const Values in_a = values_over(a, measure.of_run);
    const Values in_b = values_over(b, measure.of_run);
    // What neither has was not measured: first contexts where none were made.
    if (in_a.empty() && in_b.empty()) continue;
    result.measures.push_back(judge_times(std::string(measure.name), in_a, in_b));
  }
  if (a.discovers && b.discovers) result.classes = compare_classes(a, b);
  return result;
}

const ConditionRuns* exact_match(const ConditionRuns& a, const std::vector<ConditionRuns>& all) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ConditionRuns& b) { return name_of(a) == name_of(b); });
  return found == all.end() ? nullptr : &*found;
}

// The only one that differs in nothing but what is allowed; null if there are none or several.
const ConditionRuns* loose_match(const ConditionRuns& a, const std::vector<ConditionRuns>& all,
                                 const std::set<std::string>& allowed) {
  const ConditionRuns* match = nullptr;
  for (const ConditionRuns& b : all) {
    const bool same = a.topology == b.topology && a.arm == b.arm &&
                      (a.workload == b.workload || allowed.contains("workload")) &&
                      (a.hold == b.hold || allowed.contains("hold"));
    if (!same) continue;
    if (match != nullptr) return nullptr;
    match = &b;
  }
  return match;
}

}  // namespace

std::string_view to_text(Verdict value) {
  switch (value) {
    case Verdict::kSame:
      return "SAME";
    case Verdict::kFaster:
      return "FASTER";
    case Verdict::kSlower:
      return "SLOWER";
    case Verdict::kMore:
      return "MORE";
    case Verdict::kFewer:
      return "FEWER";
    case Verdict::kUnclear:
      return "UNCLEAR";
  }
  return "UNCLEAR";
}

std::string_view to_text(UnclearReason value) {
  switch (value) {
    case UnclearReason::kNone:
      return "";
    case UnclearReason::kTooFewRuns:
      return "few_runs";
    case UnclearReason::kWide:
      return "wide_interval";
    case UnclearReason::kNoScatter:
      return "no_scatter";
    case UnclearReason::kNoLogarithm:
      return "not_positive";
    case UnclearReason::kNoValue:
      return "no_value";
  }
  return "";
}

bool Comparison::complete() const {
  return !conditions.empty() &&
         std::all_of(conditions.begin(), conditions.end(), [](const auto& c) { return c.compared(); });
}

Comparison compare(const ComparedEvidence& a, const ComparedEvidence& b,
                   const std::set<std::string>& allowed) {
  Comparison result;
  result.name_a = a.name;
  result.name_b = b.name;
  const EnvironmentsCompared environments = compare_environments(a, b);
  for (const EnvironmentDifference& difference : environments.differences) {
    if (allowed.contains(difference.field)) result.allowed.push_back(difference);
  }
  result.not_known = environments.not_known;

  const std::vector<ConditionRuns> in_a = conditions_of(a.runs);
  const std::vector<ConditionRuns> in_b = conditions_of(b.runs);
  std::set<const ConditionRuns*> matched;
  for (const ConditionRuns& condition : in_a) {
    const ConditionRuns* other = exact_match(condition, in_b);
    if (other == nullptr && loose_match(condition, in_a, allowed) != nullptr) {
      other = loose_match(condition, in_b, allowed);
    }
    if (other == nullptr) {
      result.only_in_a.push_back(name_of(condition));
      continue;
    }
    matched.insert(other);
    result.conditions.push_back(compare_conditions(condition, *other));
  }
  for (const ConditionRuns& condition : in_b) {
    if (!matched.contains(&condition)) result.only_in_b.push_back(name_of(condition));
  }
  return result;
}

}  // namespace rollcall::analysis
