// The tables of a report and their order.
#include "report/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "evidence/limits.h"
#include "report/added_time.h"
#include "report/knowledge.h"
#include "report/terminal.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::Class;
using analysis::Condition;
using analysis::Estimate;
using analysis::ExperimentSummary;
using analysis::MeasureRow;

constexpr size_t kMaxRunIdWidth = 120;

// Marks what rests on few runs, wherever an interval is shown.
constexpr const char* kFewMark = " *";

struct Unit {
  std::string_view suffix;
  std::string_view symbol;
};
constexpr std::array kUnits = {Unit{"_s", " s"}, Unit{"_ms", " ms"}};

bool is_share(const MeasureRow& row) {
  return row.measure.ends_with("_share");
}

std::string value_text(const MeasureRow& row, double value) {
  if (is_share(row)) return percent_text(value);
  for (const Unit& unit : kUnits) {
    if (row.measure.ends_with(unit.suffix)) return three_digits(value) + std::string(unit.symbol);
  }
  return three_digits(value);
}

std::string interval_text(const MeasureRow& row) {
  const Estimate& e = row.estimate;
  if (!e.ci95) return "";
  const std::string mark = e.few() && e.method != analysis::IntervalMethod::kRuleOfThree ? kFewMark : "";
  return fmt::format("{} to {} ({}){}", value_text(row, e.ci95->low), value_text(row, e.ci95->high),
                     to_text(e.method), mark);
}

std::string ratio_interval_text(const analysis::Ratio& ratio) {
  if (!ratio.value) return "";
  if (!ratio.ci95) return ratio_text(*ratio.value);
  return fmt::format("{} ({:.2f} to {:.2f})", ratio_text(*ratio.value), ratio.ci95->low, ratio.ci95->high);
}

std::string arm_of(const Condition& c, bool mixed) {
  return arm_text(c.arm, c.workload, c.hold, mixed);
}

ReportTable classes_table(const ExperimentSummary& summary, bool mixed) {
  constexpr std::array kShown = {Class::kSelf, Class::kPeer, Class::kDiscoveryFailed, Class::kExternal,
                                 Class::kUnresolved};
  ReportTable table;
  table.caption = "Workers by class, over the valid runs";
  table.columns = {{"topology"}, {"arm"}, {"valid runs", true}, {"workers", true}};
  for (const Class value : kShown) table.columns.push_back({std::string(to_text(value)), true});
  for (const Condition& c : summary.conditions) {
    std::vector<std::string> row = {c.topology.text(), arm_of(c, mixed), fmt::to_string(c.valid_runs)};
    if (c.valid_runs == 0) {
      row.emplace_back("no valid run");
    } else if (row.push_back(fmt::to_string(c.workers)); !c.discovers) {
      row.emplace_back(c.has_shim ? "timed only: its discovery is not read" : "no discovery takes place");
    } else {
      for (const Class value : kShown) row.push_back(fmt::to_string(c.classes.of(value)));
    }
    table.rows.push_back(std::move(row));
    table.bars.push_back(c.discovers ? c.classes.count : decltype(c.classes.count){});
  }
  return table;
}

ReportTable knowledge_table(const ExperimentSummary& summary, bool mixed) {
  ReportTable table;
  table.caption =
      "What the workers know: how many are right, by what proved it (why the others do not know), over the "
      "valid runs";
  table.columns = {{"topology"}, {"arm"}, {"workers", true}, {"host PID"}, {"NVML PID"}};
  for (const Condition* c : conditions_with_knowledge(summary)) {
    table.rows.push_back({c->topology.text(), arm_of(*c, mixed), fmt::to_string(c->workers),
                          known_text(c->knowledge->host), known_text(c->knowledge->nvml)});
  }
  return table;
}

ReportTable added_table(const ExperimentSummary& summary) {
  AddedTimes times = added_times(summary);
  ReportTable table;
  table.caption = kAddedTimesTitle;
  for (std::string& title : times.columns) {
    const bool is_number = table.columns.size() >= 2;
    table.columns.push_back({std::move(title), is_number});
  }
  table.rows = std::move(times.rows);
  return table;
}

ReportTable walls_table(const ReportModel& model, bool mixed) {
  const int decimals = seconds_decimals(model.summary);
  ReportTable table;
  table.caption = "External wall time, mean ± sample SD over n valid runs";
  table.columns = {{"topology"},
                   {"arm"},
                   {"n", true},
                   {"external wall", true},
                   {"median", true},
                   {"95 % interval", true},
                   {"ratio to native (95 %)", true}};
  for (const Condition& c : model.summary.conditions) {
    std::vector<std::string> row = {c.topology.text(), arm_of(c, mixed), fmt::to_string(c.external_wall_s.n)};
    if (c.valid_runs == 0) {
      row.emplace_back("no valid run");
      table.rows.push_back(std::move(row));
      continue;
    }
    row.push_back(seconds_text(c.external_wall_s, decimals));
    const Estimate& e = c.external_wall_s;
    row.push_back(e.median ? fmt::format("{:.{}f} s", *e.median, decimals) : "");
    row.push_back(e.ci95 ? fmt::format("{:.{}f} to {:.{}f} s{}", e.ci95->low, decimals, e.ci95->high,
                                       decimals, e.few() ? kFewMark : "")
                         : "");
    row.push_back(ratio_interval_text(c.ratio_to_native));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportTable statistics_table(const ReportModel& model, bool mixed) {
  ReportTable table;
  table.caption = "Every measure of every condition, over its valid runs";
  table.columns = {{"topology"},
                   {"arm"},
                   {"measure"},
                   {"n", true},
                   {"mean", true},
                   {"SD", true},
                   {"median", true},
                   {"95 % interval", true},
                   {"ratio to native (95 %)", true}};
  for (const MeasureRow& row : model.summary.measures) {
    const Estimate& e = row.estimate;
    const auto text = [&](const std::optional<double>& value) {
      return value ? value_text(row, *value) : std::string();
    };
    table.rows.push_back({row.topology.text(), arm_text(row.arm, row.workload, row.hold, mixed), row.measure,
                          fmt::to_string(e.n), text(e.mean), text(e.sd), text(e.median), interval_text(row),
                          ratio_interval_text(row.to_native)});
  }
  return table;
}

ReportTable outliers_table(const ReportModel& model) {
  ReportTable table;
  table.caption = "Runs that lie far from the others of their condition; they are counted in every number";
  table.columns = {{"run"}, {"measure"}, {"value", true}, {"median of its condition", true}};
  for (const MeasureRow& row : model.summary.measures) {
    for (const analysis::Outlier& outlier : row.outliers) {
      table.rows.push_back({printable(outlier.run_id, kMaxRunIdWidth), row.measure,
                            value_text(row, outlier.value),
                            row.estimate.median ? value_text(row, *row.estimate.median) : ""});
    }
  }
  return table;
}

ReportTable invalid_table(const ExperimentSummary& summary) {
  ReportTable table;
  table.caption = "Runs that are not valid: in no mean and no count above";
  table.columns = {{"run"}, {"reasons"}};
  for (const auto& [id, reasons] : summary.invalid) {
    table.rows.push_back({printable(id, kMaxRunIdWidth),
                          printable(fmt::format("{}", fmt::join(reasons, ", ")), evidence::kMaxTextBytes)});
  }
  return table;
}

std::string title_of(const ExperimentSummary& summary) {
  constexpr size_t kMaxNamed = 6;
  std::vector<std::string> topologies;
  for (const Condition& c : summary.conditions) {
    const std::string text = c.topology.text();
    if (std::find(topologies.begin(), topologies.end(), text) == topologies.end()) topologies.push_back(text);
  }
  if (topologies.empty()) return "Who holds whose PID";
  const bool cut = topologies.size() > kMaxNamed;
  if (cut) topologies.resize(kMaxNamed);
  return fmt::format("Who holds whose PID: {}{}", fmt::join(topologies, ", "), cut ? ", …" : "");
}

std::string measured_on(const ExperimentSummary& summary) {
  std::vector<std::string> texts;
  for (const analysis::Setting& setting : summary.settings) texts.push_back(setting_text(setting) + ".");
  return fmt::format("{}", fmt::join(texts, " "));
}

std::vector<std::string> question_of(const ExperimentSummary& summary) {
  std::vector<std::string> text = {
      "When many processes start on one GPU together, does each of them discover its own PID as the driver "
      "lists it, and what does the discovery cost? A library that is wrong about it enforces one process's "
      "limits by another's usage, and nothing fails."};
  const bool shim = std::any_of(summary.conditions.begin(), summary.conditions.end(),
                                [](const Condition& c) { return c.has_shim; });
  text.push_back(fmt::format(
      "A topology KxW is K cache files of W workers each: workers of one cache file share its lock, workers "
      "of different ones do not.{}",
      shim ? ""
           : " No arm of this experiment has a shim, so nothing was discovered: it says what the driver "
             "alone costs."));
  return text;
}

std::vector<Step> steps(const ReportSource& source) {
  std::vector<Step> list;
  if (source.finished) {
    list.push_back({"Check every file against its checksum, without Rollcall",
                    "cd EVIDENCE && sha256sum -c SHA256SUMS"});
    list.push_back({"Check the checksums, and derive every derived file again", "rollcall verify EVIDENCE"});
  }
  list.push_back({"Derive the tables again from the raw records",
                  "rollcall summarize --input-dir EVIDENCE --output-dir TABLES"});
  list.push_back({"Derive this report again", "rollcall report EVIDENCE --out report.html"});
  return list;
}

}  // namespace

ReportModel build_model(const ReportSource& source) {
  ReportModel model;
  model.summary = analysis::summarise(source.runs);
  const bool mixed = has_mixed_workloads(model.summary);
  model.title = title_of(model.summary);
  model.measured_on = measured_on(model.summary);
  model.findings = findings(model.summary);
  model.question = question_of(model.summary);
  model.classes = classes_table(model.summary, mixed);
  model.knowledge = knowledge_table(model.summary, mixed);
  model.added = added_table(model.summary);
  model.walls = walls_table(model, mixed);
  model.statistics = statistics_table(model, mixed);
  model.outliers = outliers_table(model);
  model.invalid = invalid_table(model.summary);
  model.interpretation = interpretation(model);
  model.limits = limits(model, source);
  model.method = method_facts(model, source);
  model.environment = environment_facts(source);
  model.programs = program_facts(source);
  model.reproduce = steps(source);
  return model;
}

}  // namespace rollcall::report
