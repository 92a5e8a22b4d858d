// What was seen, in plain sentences: at most one for each condition with a shim,
// and one on the control. A sentence is said only of valid runs, and nothing
// that sounds like success is said where there are none.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/knowledge.h"
#include "report/terminal.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::Class;
using analysis::Condition;
using analysis::Control;
using analysis::ExperimentSummary;

std::string place(const Condition& c) {
  if (c.topology.workers() == 1) return fmt::format("One worker alone ({})", c.topology.text());
  return fmt::format("{} ({})", c.topology.caches() == 1 ? "One shared cache" : "Isolated caches",
                     c.topology.text());
}

// "1 discovery failed, 2 hold a PID of no worker": what else went wrong.
std::vector<std::string> other_faults(const Condition& c) {
  std::vector<std::string> parts;
  if (const int n = c.classes.of(Class::kDiscoveryFailed); n > 0) {
    parts.push_back(fmt::format("{} {} failed", n, n == 1 ? "discovery" : "discoveries"));
  }
  if (const int n = c.classes.of(Class::kExternal); n > 0) {
    parts.push_back(fmt::format("{} hold{} a PID of no worker", n, n == 1 ? "s" : ""));
  }
  if (const int n = c.classes.of(Class::kUnresolved); n > 0) {
    parts.push_back(fmt::format("{} could not be resolved", n));
  }
  return parts;
}

// Why, by the codes of the records: the most frequent first, and not all of a long list.
std::string reasons_clause(const Condition& c) {
  constexpr size_t kMaxShown = 3;
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, count] : c.reasons) reasons.emplace_back(-count, printable(reason, kMaxArmWidth));
  if (reasons.empty()) return {};
  std::sort(reasons.begin(), reasons.end());
  std::vector<std::string> shown;
  for (const auto& [count, reason] : reasons) {
    if (shown.size() == kMaxShown) break;
    shown.push_back(fmt::format("{} {}", -count, reason));
  }
  return fmt::format(" (reasons: {}{})", fmt::join(shown, ", "), reasons.size() > kMaxShown ? ", …" : "");
}

std::string cuinit_clause(const Condition& c) {
  if (c.cuinit_failed == 0) return "no cuInit call failed";
  return fmt::format("{} cuInit {} failed", c.cuinit_failed, c.cuinit_failed == 1 ? "call" : "calls");
}

const Condition* condition_like(const Condition& c, const ExperimentSummary& summary, std::string_view arm) {
  const auto found =
      std::find_if(summary.conditions.begin(), summary.conditions.end(), [&](const Condition& other) {
        return other.arm == arm && other.topology == c.topology && other.workload == c.workload &&
               other.hold == c.hold;
      });
  return found == summary.conditions.end() ? nullptr : &*found;
}

// What one lock for the whole node costs against one per cache, whichever way it goes.
std::string cost_clause(const Condition& c, const ExperimentSummary& summary) {
  if (c.arm != "legacy-node-lock") return {};
  const Condition* legacy = condition_like(c, summary, "legacy");
  if (legacy == nullptr || !c.external_wall_s.mean || legacy->external_wall_s.mean.value_or(0) <= 0)
    return {};
  return fmt::format("; its wall time is {:.2f}× that of legacy",
                     *c.external_wall_s.mean / *legacy->external_wall_s.mean);
}

const Condition* one_cache_like(const Condition& c, const ExperimentSummary& summary) {
  const auto found =
      std::find_if(summary.conditions.begin(), summary.conditions.end(), [&](const Condition& other) {
        return other.arm == c.arm && other.topology.caches() == 1 &&
               other.topology.workers() == c.topology.workers() && other.workload == c.workload &&
               other.hold == c.hold;
      });
  return found == summary.conditions.end() ? nullptr : &*found;
}

// Whether isolated caches take another time than one cache for as many workers. Said of at
// least two runs a side; where their interval holds 1, that they cannot tell.
std::string isolation_clause(const Condition& c, const ExperimentSummary& summary) {
  if (c.topology.caches() < 2) return {};
  const Condition* shared = one_cache_like(c, summary);
  const analysis::MeasureRow* here = analysis::measure_of(summary, c, "external_wall_s");
  if (shared == nullptr || here == nullptr) return {};
  const analysis::MeasureRow* there = analysis::measure_of(summary, *shared, "external_wall_s");
  if (there == nullptr || here->values.size() < 2 || there->values.size() < 2) return {};
  const auto values = [](const analysis::MeasureRow& row) {
    std::vector<double> result;
    for (const auto& [run_id, value] : row.values) result.push_back(value);
    return result;
  };
  const analysis::Ratio ratio = analysis::ratio_of_means(values(*here), values(*there));
  if (!ratio.value || !ratio.ci95) return {};
  const double before = *there->estimate.mean;
  const double after = *here->estimate.mean;
  const std::string times =
      fmt::format("{0:.{2}f} → {1:.{2}f} s", before, after, seconds_decimals(std::min(before, after)));
  if (ratio.ci95->low <= 1 && ratio.ci95->high >= 1) {
    return fmt::format("; whether its wall time differs from that on one cache cannot be told ({})", times);
  }
  return fmt::format("; its wall time is {:.1f} % {} than on one cache ({})",
                     100 * std::abs(*ratio.value - 1), *ratio.value < 1 ? "less" : "more", times);
}

// Why one cache alone does not protect: no context is part of the study, one is
// part of every application.
std::string context_clause(const Condition& c) {
  const bool shown = c.arm == "legacy" && c.topology.caches() == 1 &&
                     c.workload == evidence::Workload::kContext && c.classes.of(Class::kPeer) > 0;
  return shown ? "; one cache is right only while nobody keeps a context" : "";
}

// Of an arm that claims two numbers. What is wrong first; a worker that knows one number
// and not the other must not look as if it knew itself.
std::string two_numbers_text(const Condition& c) {
  const int peers = c.classes.of(Class::kPeer);
  const int external = c.classes.of(Class::kExternal);
  std::vector<std::string> parts;
  if (peers > 0) {
    parts.push_back(fmt::format("{} of {} {} workers {}hold another worker's PID", peers, c.workers,
                                printable(c.arm, kMaxArmWidth), c.cuinit_failed == 0 ? "silently " : ""));
  }
  if (external > 0)
    parts.push_back(fmt::format("{} hold{} a PID of no worker", external, external == 1 ? "s" : ""));
  if (parts.empty()) return knowledge_clause(c);
  return fmt::format("{}; {}; {}", fmt::join(parts, ", "), cuinit_clause(c), knowledge_clause(c));
}

std::string condition_sentence(const Condition& c, const ExperimentSummary& summary) {
  const std::string arm = printable(c.arm, kMaxArmWidth);
  if (c.valid_runs == 0)
    return fmt::format("{}: no valid run of {}, so nothing is known of it.", place(c), arm);
  const int self = c.classes.of(Class::kSelf);
  const int peers = c.classes.of(Class::kPeer);
  std::string text = place(c) + ": ";
  if (c.knowledge) return text + two_numbers_text(c) + isolation_clause(c, summary) + ".";
  if (self == c.workers) {
    text += fmt::format("every {} worker found its own PID ({} of {})", arm, self, c.workers);
  } else if (peers > 0) {
    auto parts = other_faults(c);
    parts.insert(parts.begin(), fmt::format("{} of {} {} workers {}hold another worker's PID", peers,
                                            c.workers, arm, c.cuinit_failed == 0 ? "silently " : ""));
    text += fmt::format("{}; {}", fmt::join(parts, ", "), cuinit_clause(c));
  } else {
    text += fmt::format("{} of {} {} workers found their own PID; {}", self, c.workers, arm,
                        fmt::join(other_faults(c), ", "));
  }
  return text + reasons_clause(c) + context_clause(c) + cost_clause(c, summary) +
         isolation_clause(c, summary) + ".";
}

// What its workers hold instead; only where they all found themselves is there need to guess.
std::string why_not_visible(const ExperimentSummary& summary) {
  analysis::ClassCounts counts;
  for (const Condition& c : summary.conditions) {
    if (c.arm != "legacy" || c.topology.caches() < 2) continue;
    for (size_t i = 0; i < counts.count.size(); ++i) counts.count[i] += c.classes.count[i];
  }
  if (const int n = counts.of(Class::kExternal); n > 0) {
    return fmt::format(", but {} hold{} a PID of no worker, which is as wrong", n, n == 1 ? "s" : "");
  }
  const int failed = counts.of(Class::kDiscoveryFailed);
  const int unresolved = counts.of(Class::kUnresolved);
  if (failed + unresolved >= counts.of(Class::kSelf)) {
    return fmt::format(", because {} of {} discoveries failed or could not be resolved", failed + unresolved,
                       counts.total());
  }
  return ", likely because too few workers start together, or the node hides siblings from each other";
}

std::string control_sentence(const ExperimentSummary& summary) {
  switch (summary.control) {
    case Control::kVisible:
      return "Control: visible — isolated caches with legacy show peers, so this experiment can see the "
             "fault.";
    case Control::kNotVisible:
      return fmt::format(
          "Control: not visible — isolated caches with legacy show no peer{}; absence of peers in other "
          "arms proves nothing here.",
          why_not_visible(summary));
    case Control::kAbsent:
      if (shows_peers(summary)) {
        return "Control: absent — no valid isolated-cache run of the arm legacy; the fault was seen all the "
               "same, but where no peers were seen their absence proves nothing.";
      }
      return "Control: absent — no valid isolated-cache run of the arm legacy, so this experiment cannot "
             "tell "
             "whether it would see the fault; absence of peers proves nothing here.";
  }
  return {};
}

}  // namespace

bool shows_peers(const ExperimentSummary& summary) {
  return std::any_of(summary.conditions.begin(), summary.conditions.end(),
                     [](const Condition& c) { return c.classes.of(Class::kPeer) > 0; });
}

std::vector<std::string> findings(const ExperimentSummary& summary) {
  const bool any_valid = std::any_of(summary.conditions.begin(), summary.conditions.end(),
                                     [](const Condition& c) { return c.valid_runs > 0; });
  if (summary.runs == 0) return {"No run is recorded, so nothing is known."};
  if (!any_valid)
    return {"No run is valid, so this experiment shows nothing; the reasons are listed with the runs."};
  std::vector<std::string> sentences;
  for (const Condition& c : summary.conditions) {
    if (c.discovers) sentences.push_back(condition_sentence(c, summary));
  }
  sentences.push_back(control_sentence(summary));
  const bool unchecked = std::any_of(summary.settings.begin(), summary.settings.end(),
                                     [](const analysis::Setting& s) { return s.truth == "log"; });
  if (unchecked) {
    sentences.emplace_back(
        "Not checked against a launcher: the workers are those that spoke in the logs, and each one's own "
        "PID is "
        "what it said there.");
  }
  return sentences;
}

}  // namespace rollcall::report
