// The columns of the first context are there only where some arm has a hook on it: an
// empty column would look like something that was measured and lost.
#include "report/added_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {

using analysis::AddedTime;
using analysis::Condition;
using analysis::ExperimentSummary;

AddedTimes added_times(const ExperimentSummary& summary) {
  const bool contexts = std::any_of(summary.conditions.begin(), summary.conditions.end(),
                                    [](const Condition& c) { return c.context_added.n > 0; });
  const bool mixed = has_mixed_workloads(summary);
  AddedTimes table;
  table.columns = {"topology", "arm", "workers", "cuInit p50", "p99"};
  if (contexts) table.columns.insert(table.columns.end(), {"workers", "first context p50", "p99"});
  for (const Condition& c : summary.conditions) {
    if (c.added.n == 0 && c.context_added.n == 0) continue;
    std::vector<std::string> row = {c.topology.text(), arm_text(c.arm, c.workload, c.hold, mixed)};
    for (const AddedTime* time : {&c.added, &c.context_added}) {
      if (time == &c.context_added && !contexts) continue;
      row.push_back(time->n > 0 ? fmt::to_string(time->n) : std::string());
      row.push_back(milliseconds_text(time->p50_ns));
      row.push_back(milliseconds_text(time->p99_ns));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string added_times_section(const ExperimentSummary& summary) {
  constexpr size_t kNames = 2;  // the columns that are no numbers
  constexpr size_t kMaxArm = 24;
  const AddedTimes times = added_times(summary);
  if (times.rows.empty()) return {};
  std::vector<TextTable::Column> columns;
  for (const std::string& title : times.columns) {
    columns.push_back({title, columns.size() < kNames ? Align::kLeft : Align::kRight});
  }
  TextTable table(std::move(columns));
  for (auto row : times.rows) {
    row[1] = printable(row[1], kMaxArm);
    table.add(std::move(row));
  }
  return "\n" + wrapped(kAddedTimesTitle, 2) + table.text();
}

}  // namespace rollcall::report
