// The layout of the result. Everything that is said here is already decided in
// the summary; this file only arranges it, so that one reads the finding first
// from the table of classes, then what it cost, then in words.
#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "report/added_time.h"
#include "report/knowledge.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::Class;
using analysis::Condition;
using analysis::ExperimentSummary;

constexpr size_t kMaxColumnWidth = 24;  // of an arm's name, so that the tables keep their width

std::string workload_text(const Condition& c) {
  return fmt::format("workload {}, hold {}", to_text(c.workload), to_text(c.hold));
}

// "3 runs each", or nothing where the conditions differ.
std::optional<int> same_number_of_runs(const ExperimentSummary& summary) {
  std::set<int> counts;
  for (const Condition& c : summary.conditions) counts.insert(c.valid_runs);
  if (counts.size() != 1 || *counts.begin() == 0) return std::nullopt;
  return *counts.begin();
}

std::string classes_title(const ExperimentSummary& summary) {
  std::vector<std::string> remarks;
  if (const auto runs = same_number_of_runs(summary); runs) {
    remarks.push_back(summary.invalid.empty() ? plural(*runs, "run") + " each"
                                              : plural(*runs, "valid run") + " each");
  }
  if (!has_mixed_workloads(summary) && !summary.conditions.empty()) {
    const Condition& c = summary.conditions.front();
    if (c.workload != evidence::Workload::kInit || c.hold != evidence::Hold::kNone)
      remarks.push_back(workload_text(c));
  }
  if (remarks.empty()) return "Who holds whose PID\n";
  return fmt::format("Who holds whose PID ({})\n", fmt::join(remarks, "; "));
}

// The first cells of a row: which condition it is.
class ConditionCells {
 public:
  explicit ConditionCells(const ExperimentSummary& summary)
      : mixed_(has_mixed_workloads(summary)), show_runs_(!same_number_of_runs(summary)) {}

  [[nodiscard]] std::vector<TextTable::Column> columns(bool with_runs) const {
    std::vector<TextTable::Column> result = {{"topology", Align::kLeft}, {"arm", Align::kLeft}};
    if (with_runs && show_runs_) result.push_back({"runs"});
    return result;
  }
  [[nodiscard]] std::vector<std::string> cells(const Condition& c, bool with_runs) const {
    // Two conditions that differ only in workload or hold would look the same.
    std::string arm = arm_text(printable(c.arm, kMaxColumnWidth), c.workload, c.hold, mixed_);
    std::vector<std::string> result = {c.topology.text(), std::move(arm)};
    if (with_runs && show_runs_) result.push_back(fmt::to_string(c.valid_runs));
    return result;
  }

 private:
  bool mixed_;
  bool show_runs_;
};

std::string classes_table(const ExperimentSummary& summary) {
  constexpr std::array kShown = {Class::kSelf, Class::kPeer, Class::kDiscoveryFailed, Class::kExternal,
                                 Class::kUnresolved};
  const ConditionCells condition_cells(summary);
  auto columns = condition_cells.columns(true);
  columns.push_back({"workers"});
  for (const Class value : kShown) columns.push_back({std::string(to_text(value))});
  TextTable table(std::move(columns));
  for (const Condition& c : summary.conditions) {
    auto cells = condition_cells.cells(c, true);
    if (c.valid_runs == 0) {
      table.add_with_note(std::move(cells), "no valid run");
      continue;
    }
    cells.push_back(fmt::to_string(c.workers));
    if (!c.discovers) {
      table.add_with_note(std::move(cells),
                          c.has_shim ? "timed only: its discovery is not read" : "no discovery takes place");
      continue;
    }
    for (const Class value : kShown) cells.push_back(fmt::to_string(c.classes.of(value)));
    table.add(std::move(cells));
  }
  return table.text();
}

// Whether some condition has runs, but too few to believe its interval.
bool any_few(const ExperimentSummary& summary) {
  return std::any_of(summary.conditions.begin(), summary.conditions.end(),
                     [](const Condition& c) { return c.external_wall_s.n > 0 && c.external_wall_s.few(); });
}

std::string wall_title(const ExperimentSummary& summary) {
  const bool interval = std::any_of(summary.conditions.begin(), summary.conditions.end(),
                                    [](const Condition& c) { return c.ratio_to_native.ci95.has_value(); });
  std::string text = "Wall time, mean ± sample SD over n runs";
  if (interval) text += "; ratio of means with its 95 % interval";
  if (any_few(summary)) text += fmt::format("; * fewer than {} runs", analysis::kFewRuns);
  return "\n" + wrapped(text, 2);
}

std::string wall_table(const ExperimentSummary& summary) {
  const int decimals = seconds_decimals(summary);
  const ConditionCells condition_cells(summary);
  auto columns = condition_cells.columns(false);
  columns.push_back({"n"});
  columns.push_back({"external wall"});
  columns.push_back({"ratio to native", Align::kLeft});
  TextTable table(std::move(columns));
  for (const Condition& c : summary.conditions) {
    auto cells = condition_cells.cells(c, false);
    const bool few = c.external_wall_s.n > 0 && c.external_wall_s.few();
    // One character wide in both cases, so that the numbers stay below each other.
    cells.push_back(fmt::to_string(c.external_wall_s.n) + (few ? "*" : any_few(summary) ? " " : ""));
    if (c.valid_runs == 0) {
      table.add_with_note(std::move(cells), "no valid run");
      continue;
    }
    cells.push_back(seconds_text(c.external_wall_s, decimals));
    cells.push_back(ratio_text(c.ratio_to_native));
    table.add(std::move(cells));
  }
  return table.text();
}

// The runs that stand apart, each with the measures in which it does.
std::string outlier_list(const ExperimentSummary& summary) {
  constexpr size_t kMaxShown = 10;
  std::map<std::string, std::vector<std::string>> apart;
  for (const analysis::MeasureRow& row : summary.measures) {
    for (const analysis::Outlier& outlier : row.outliers) apart[outlier.run_id].push_back(row.measure);
  }
  if (apart.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [run_id, measures] : apart) {
    if (parts.size() == kMaxShown) break;
    parts.push_back(fmt::format("{} ({})", printable(run_id, kMaxColumns / 2), fmt::join(measures, ", ")));
  }
  if (apart.size() > kMaxShown)
    parts.push_back(plural(static_cast<int>(apart.size() - kMaxShown), "run") + " more");
  return wrapped(fmt::format("Outliers, named and counted: {}", fmt::join(parts, "; ")), 2);
}

std::string invalid_list(const ExperimentSummary& summary) {
  std::string text = fmt::format("\n{} of {} not valid, and not counted above\n", summary.invalid.size(),
                                 plural(summary.runs, "run"));
  for (const auto& [id, reasons] : summary.invalid) {
    text += wrapped(fmt::format("{}: {}", printable(id, kMaxColumns / 2), fmt::join(reasons, ", ")), 4);
  }
  return text;
}

}  // namespace

std::string terminal_report(const ExperimentSummary& summary) {
  std::string text;
  if (!summary.conditions.empty()) {
    text += classes_title(summary) + classes_table(summary) + knowledge_section(summary);
    text += wall_title(summary) + wall_table(summary) + outlier_list(summary) + added_times_section(summary);
    for (const analysis::Setting& setting : summary.settings) text += wrapped(setting_text(setting) + ".", 2);
    text += "\n";
  }
  for (const std::string& sentence : findings(summary)) text += wrapped(sentence, 2);
  if (!summary.invalid.empty()) text += invalid_list(summary);
  return text;
}

}  // namespace rollcall::report
