// Two experiments of the same conditions, before and after: what became slower, what
// faster, what stayed, and what these runs cannot tell. A pure function of the records.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/classify.h"
#include "analysis/conditions.h"
#include "analysis/environments.h"
#include "analysis/estimate.h"

namespace rollcall::analysis {

// A ratio of times within this is no difference that matters, 1/1.02 to 1.02: it is what a
// shim may cost at most, and about what the wall time of one condition scatters.
inline constexpr double kSameWithin = 0.02;
// The same for shares of a class: two workers in a hundred.
inline constexpr double kSameShareWithin = 0.02;
// More runs a side than anybody makes; beyond, it is only said that it is more.
inline constexpr int kMostRunsAdvised = 1000;

enum class Verdict {
  kSame,     // the interval lies within the limits of "same"
  kFaster,   // the interval lies below 1, and not within these limits
  kSlower,   // above 1
  kMore,     // a class: the interval of the difference lies above 0
  kFewer,    // below 0
  kUnclear,  // none of these, or fewer than kFewRuns runs a side
};
std::string_view to_text(Verdict value);  // "SAME", "FASTER", …

enum class UnclearReason {
  kNone,         // it is clear
  kTooFewRuns,   // fewer than kFewRuns runs on a side
  kWide,         // the interval holds a change that matters, and none
  kNoScatter,    // all values of a side are equal, on both: no interval
  kNoLogarithm,  // a time that is not positive
  kNoValue,      // a side has none
};
std::string_view to_text(UnclearReason value);  // "few_runs", …

struct MeasureComparison {
  std::string measure;
  Estimate a;
  Estimate b;
  std::optional<double> ratio;  // of the geometric means, B over A
  std::optional<Interval> ci95;
  Verdict verdict = Verdict::kUnclear;
  UnclearReason reason = UnclearReason::kNone;
  // Where unclear: so many runs a side would tell, if scatter and effect are as seen; above
  // kMostRunsAdvised where even these would not. Unset where neither is known.
  std::optional<int> runs_needed;
};

struct ClassComparison {
  Class value = Class::kSelf;
  int count_a = 0;  // workers of that class, of all workers over the valid runs
  int count_b = 0;
  int workers_a = 0;
  int workers_b = 0;
  std::optional<double> difference;  // of the mean shares of the runs, B less A
  std::optional<Interval> ci95;
  Verdict verdict = Verdict::kUnclear;
  UnclearReason reason = UnclearReason::kNone;
  std::optional<int> runs_needed;
};

// Workers that hold a wrong PID (peer or external), over all runs: that a run is
// invalid does not make a wrong PID right.
struct WrongIdentities {
  int wrong = 0;
  int workers = 0;
};

struct ConditionName {
  evidence::Topology topology;
  std::string arm;
  evidence::Workload workload = evidence::Workload::kInit;
  evidence::Hold hold = evidence::Hold::kNone;
  friend bool operator==(const ConditionName&, const ConditionName&) = default;
};

struct ConditionComparison {
  ConditionName a;
  ConditionName b;  // the same, but for what --allow lets differ
  int valid_a = 0;
  int invalid_a = 0;
  int valid_b = 0;
  int invalid_b = 0;
  std::vector<MeasureComparison> measures;
  std::vector<ClassComparison> classes;  // where both discover
  WrongIdentities wrong_a;
  WrongIdentities wrong_b;
  // Whether there is anything to compare: a valid run on both sides.
  [[nodiscard]] bool comparable() const { return valid_a > 0 && valid_b > 0; }
  // And something was: valid runs alone may have measured nothing.
  [[nodiscard]] bool compared() const { return comparable() && (!measures.empty() || !classes.empty()); }
};

struct Comparison {
  std::string name_a;
  std::string name_b;
  std::vector<EnvironmentDifference> allowed;  // differences that the user knows of
  std::vector<std::string> not_known;          // fields that neither side records
  std::vector<ConditionComparison> conditions;
  std::vector<ConditionName> only_in_a;
  std::vector<ConditionName> only_in_b;
  // Every condition that both have could be compared in something, and there is one.
  [[nodiscard]] bool complete() const;
};

// The caller has checked that the environments may be compared. With "workload" or "hold" among
// the allowed ones, a condition that has no counterpart is matched with the only one of B that
// differs in nothing else.
Comparison compare(const ComparedEvidence& a, const ComparedEvidence& b,
                   const std::set<std::string>& allowed);

}  // namespace rollcall::analysis
