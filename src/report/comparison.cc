// See comparison.h. The verdict stands first in every row: it is what one looks for.
#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "report/text_table.h"

namespace rollcall::report {
namespace {

using analysis::ClassComparison;
using analysis::Comparison;
using analysis::ConditionComparison;
using analysis::ConditionName;
using analysis::MeasureComparison;
using analysis::UnclearReason;
using analysis::Verdict;

constexpr size_t kMaxArmWidth = 24;
constexpr size_t kMaxNameWidth = 60;

std::string name_of(const ConditionName& c) {
  std::string text = fmt::format("{} {}", c.topology.text(), printable(c.arm, kMaxArmWidth));
  if (c.workload != evidence::Workload::kInit) text += fmt::format(" +{}", to_text(c.workload));
  if (c.hold != evidence::Hold::kNone) text += " +hold";
  return text;
}

std::string name_of(const ConditionComparison& c) {
  return c.a == c.b ? name_of(c.a) : fmt::format("{} → {}", name_of(c.a), name_of(c.b));
}

// Four significant digits; times range from microseconds to hours.
std::string number(const std::optional<double>& value) {
  if (!value) return "not known";
  const double v = *value;
  const int decimals = v >= 1000 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : v >= 1 ? 3 : 4;
  return fmt::format("{:.{}f}", v, decimals);
}

// How many runs a side would tell.
std::string advised(const std::optional<int>& runs) {
  if (!runs) return {};
  if (*runs > analysis::kMostRunsAdvised) {
    return fmt::format(" (more than {})", analysis::kMostRunsAdvised);
  }
  return fmt::format(" ({})", *runs);
}

std::string reason_text(UnclearReason reason) {
  switch (reason) {
    case UnclearReason::kTooFewRuns:
      return fmt::format("fewer than {} runs on a side", analysis::kFewRuns);
    case UnclearReason::kWide:
      return "these runs agree with a change and with none";
    case UnclearReason::kNoScatter:
      return "all runs of a side are equal, so that their scatter is not known";
    case UnclearReason::kNoLogarithm:
      return "a time is not positive";
    case UnclearReason::kNoValue:
      return "not measured on both sides";
    case UnclearReason::kNone:
      break;
  }
  return {};
}

std::string ratio_text(const MeasureComparison& m) {
  return m.ratio ? fmt::format("{:.3f}×", *m.ratio) : std::string();
}

std::string measures_table(const ConditionComparison& c) {
  TextTable table(
      {{"", Align::kLeft}, {"time", Align::kLeft}, {"A mean"}, {"B mean"}, {"B/A"}, {"95 % interval"}});
  for (const MeasureComparison& m : c.measures) {
    table.add({std::string(to_text(m.verdict)), m.measure, number(m.a.mean), number(m.b.mean), ratio_text(m),
               m.ci95 ? fmt::format("{:.3f} – {:.3f}", m.ci95->low, m.ci95->high) : ""});
  }
  return table.text();
}

std::string classes_table(const ConditionComparison& c) {
  TextTable table(
      {{"", Align::kLeft}, {"class", Align::kLeft}, {"A"}, {"B"}, {"B−A, points"}, {"95 % interval"}});
  for (const ClassComparison& one : c.classes) {
    table.add({std::string(to_text(one.verdict)), std::string(to_text(one.value)),
               fmt::format("{} of {}", one.count_a, one.workers_a),
               fmt::format("{} of {}", one.count_b, one.workers_b),
               one.difference ? fmt::format("{:+.1f}", 100 * *one.difference) : "",
               one.ci95 ? fmt::format("{:+.1f} – {:+.1f}", 100 * one.ci95->low, 100 * one.ci95->high) : ""});
  }
  return table.text();
}

// Why rows are unclear, each reason once, with what it is said of.
std::string unclear_lines(const ConditionComparison& c) {
  std::map<UnclearReason, std::vector<std::string>> by_reason;
  std::set<UnclearReason> with_advice;
  const auto add = [&](const auto& row, std::string_view name) {
    if (row.verdict != Verdict::kUnclear) return;
    by_reason[row.reason].push_back(std::string(name) + advised(row.runs_needed));
    if (row.runs_needed) with_advice.insert(row.reason);
  };
  for (const MeasureComparison& m : c.measures) add(m, m.measure);
  for (const ClassComparison& one : c.classes) add(one, to_text(one.value));
  std::string text;
  for (const auto& [reason, names] : by_reason) {
    text += wrapped(fmt::format("Unclear, because {}{}: {}", reason_text(reason),
                                with_advice.contains(reason) ? " (how many a side would tell)" : "",
                                fmt::join(names, ", ")),
                    4);
  }
  return text;
}

std::string side_text(int valid, int invalid) {
  return invalid == 0 ? fmt::format("{}", valid) : fmt::format("{} valid and {} invalid", valid, invalid);
}

std::string condition_text(const ConditionComparison& c) {
  std::string text =
      "\n" + wrapped(fmt::format("{}: runs {} in A, {} in B", name_of(c), side_text(c.valid_a, c.invalid_a),
                                 side_text(c.valid_b, c.invalid_b)),
                     2);
  if (!c.comparable()) {
    return text + fmt::format("  no valid run in {}, so nothing is compared\n", c.valid_a > 0 ? "B"
                                                                                : c.valid_b > 0
                                                                                    ? "A"
                                                                                    : "A and in B");
  }
  text += measures_table(c);
  if (!c.classes.empty()) text += classes_table(c);
  return text + unclear_lines(c);
}

// All rows of one verdict, named; nothing where there are none.
std::string verdict_line(const Comparison& comparison, Verdict verdict, const char* title) {
  std::vector<std::string> parts;
  for (const ConditionComparison& c : comparison.conditions) {
    std::vector<std::string> names;
    for (const MeasureComparison& m : c.measures) {
      if (m.verdict == verdict) names.push_back(fmt::format("{} {}", m.measure, ratio_text(m)));
    }
    if (!names.empty()) parts.push_back(fmt::format("{}: {}", name_of(c), fmt::join(names, ", ")));
  }
  if (parts.empty()) return {};
  return wrapped(fmt::format("{}: {}.", title, fmt::join(parts, "; ")), 2);
}

int count_of(const Comparison& comparison, Verdict verdict) {
  int count = 0;
  for (const ConditionComparison& c : comparison.conditions) {
    count += static_cast<int>(std::count_if(c.measures.begin(), c.measures.end(),
                                            [&](const auto& m) { return m.verdict == verdict; }));
  }
  return count;
}

std::string identities_text(const Comparison& comparison) {
  std::string text;
  for (const ConditionComparison& c : comparison.conditions) {
    const auto& [before, before_of] = c.wrong_a;
    const auto& [after, after_of] = c.wrong_b;
    if (before_of == 0 || after_of == 0 || (before > 0) == (after > 0)) continue;
    text +=
        wrapped(after > 0 ? fmt::format("A wrong identity appears in B and not in A: {}: {} of {} workers "
                                        "hold a PID that is not theirs, before none of {}.",
                                        name_of(c), after, after_of, before_of)
                          : fmt::format("No wrong identity is seen in B any more: {}: none of {} workers, "
                                        "before {} of {}.",
                                        name_of(c), after_of, before, before_of),
                2);
  }
  return text;
}

std::string headline(const Comparison& comparison) {
  std::string text = identities_text(comparison);
  text += verdict_line(comparison, Verdict::kSlower, "SLOWER");
  text += verdict_line(comparison, Verdict::kFaster, "FASTER");
  int times = 0;
  for (const ConditionComparison& c : comparison.conditions) times += static_cast<int>(c.measures.size());
  if (times == 0) return text + "Nothing could be compared.\n";
  text += fmt::format("Of {} times {} slower, {} faster, {} the same within {:.0f} %, {} unclear.\n", times,
                      count_of(comparison, Verdict::kSlower), count_of(comparison, Verdict::kFaster),
                      count_of(comparison, Verdict::kSame), 100 * analysis::kSameWithin,
                      count_of(comparison, Verdict::kUnclear));
  return text;
}

std::string only_in(const std::vector<ConditionName>& conditions, const char* side) {
  if (conditions.empty()) return {};
  std::vector<std::string> names;
  for (const ConditionName& c : conditions) names.push_back(name_of(c));
  return wrapped(fmt::format("Only in {}, not compared: {}.", side, fmt::join(names, ", ")), 2);
}

std::string environment_lines(const Comparison& comparison) {
  std::string text;
  for (const auto& [field, a, b] : comparison.allowed) {
    text += wrapped(fmt::format("Differs, as allowed: {}: A has {}, B has {}.", field,
                                printable(a, kMaxNameWidth), printable(b, kMaxNameWidth)),
                    2);
  }
  if (!comparison.not_known.empty()) {
    text += wrapped(fmt::format("Recorded by neither, and so not known to be the same: {}.",
                                fmt::join(comparison.not_known, ", ")),
                    2);
  }
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = wrapped("A, before: " + printable(comparison.name_a, kMaxColumns - 20), 2);
  text += wrapped("B, after:  " + printable(comparison.name_b, kMaxColumns - 20), 2);
  text += environment_lines(comparison) + "\n" + headline(comparison);
  for (const ConditionComparison& c : comparison.conditions) text += condition_text(c);
  const std::string missing = only_in(comparison.only_in_a, "A") + only_in(comparison.only_in_b, "B");
  if (!missing.empty()) text += "\n" + missing;
  if (!comparison.conditions.empty()) {
    text += "\n" + wrapped(
                       "B/A is the ratio of geometric means, its interval Welch's on the logarithms. Each "
                       "interval stands "
                       "for itself: where nothing changed, one in twenty still shows a change.",
                       2);
  }
  return text;
}

}  // namespace rollcall::report
