// statistics.csv: one measure of one condition a row, over its valid runs.
#include <fmt/format.h>

#include "analysis/classify.h"
#include "analysis/conditions.h"
#include "analysis/estimate.h"
#include "analysis/measures.h"
#include "evidence/csv.h"

namespace rollcall::analysis {
namespace {

using evidence::Run;

const evidence::CsvRow kColumns = {"topology",
                                   "arm",
                                   "measure",
                                   "n",
                                   "mean",
                                   "sd",
                                   "median",
                                   "ci95_low",
                                   "ci95_high",
                                   "ratio_to_native",
                                   "ratio_ci95_low",
                                   "ratio_ci95_high",
                                   "workload",
                                   "hold",
                                   "ci95_method",
                                   "ratio_ci95_method",
                                   "few",
                                   "outliers"};

// Six decimals: a nanosecond of a time in ms, a worker of a million in a share. More
// would only show how a machine rounds.
std::string decimal(const std::optional<double>& value) {
  return value ? fmt::format("{:.6f}", *value) : std::string();
}
std::string low(const std::optional<Interval>& interval) {
  return interval ? decimal(interval->low) : std::string();
}
std::string high(const std::optional<Interval>& interval) {
  return interval ? decimal(interval->high) : std::string();
}

template <typename Function>
std::vector<std::pair<std::string, double>> values_over(const std::vector<const Run*>& runs,
                                                        Function measure) {
  std::vector<std::pair<std::string, double>> values;
  for (const Run* run : runs) {
    if (const std::optional<double> value = measure(*run)) values.emplace_back(run->record.id(), *value);
  }
  return values;
}

std::vector<double> only_values(const std::vector<std::pair<std::string, double>>& values) {
  std::vector<double> result;
  for (const auto& [run_id, value] : values) result.push_back(value);
  return result;
}

MeasureRow empty_row(const ConditionRuns& condition, std::string measure) {
  MeasureRow row;
  row.topology = condition.topology;
  row.arm = condition.arm;
  row.workload = condition.workload;
  row.hold = condition.hold;
  row.measure = std::move(measure);
  return row;
}

MeasureRow time_row(const ConditionRuns& condition, const ConditionRuns* native, const TimeMeasure& measure) {
  MeasureRow row = empty_row(condition, std::string(measure.name));
  row.values = values_over(condition.valid, measure.of_run);
  row.estimate = estimate(only_values(row.values));
  row.outliers = outliers(row.values);
  if (native != nullptr) {
    row.to_native =
        ratio_of_means(only_values(row.values), only_values(values_over(native->valid, measure.of_run)));
  }
  return row;
}

// The classes of each run, by its id.
using RunClasses = std::vector<std::pair<std::string, ClassCounts>>;

RunClasses classes_of(const ConditionRuns& condition) {
  RunClasses result;
  for (const Run* run : condition.valid) {
    const ClassCounts counts = count_classes(classify(*run));
    if (counts.total() > 0) result.emplace_back(run->record.id(), counts);
  }
  return result;
}

MeasureRow share_row(const ConditionRuns& condition, const RunClasses& classes, Class value) {
  MeasureRow row = empty_row(condition, fmt::format("{}_share", to_text(value)));
  int workers = 0;
  for (const auto& [run_id, counts] : classes) {
    row.values.emplace_back(run_id, static_cast<double>(counts.of(value)) / counts.total());
    workers += counts.total();
  }
  row.estimate = estimate_share(only_values(row.values), workers);
  row.outliers = outliers(row.values);
  return row;
}

evidence::CsvRow cells_of(const MeasureRow& row) {
  std::vector<std::string> apart;
  for (const Outlier& outlier : row.outliers) apart.push_back(outlier.run_id);
  return {row.topology.text(),
          row.arm,
          row.measure,
          fmt::to_string(row.estimate.n),
          decimal(row.estimate.mean),
          decimal(row.estimate.sd),
          decimal(row.estimate.median),
          low(row.estimate.ci95),
          high(row.estimate.ci95),
          decimal(row.to_native.value),
          low(row.to_native.ci95),
          high(row.to_native.ci95),
          std::string(to_text(row.workload)),
          std::string(to_text(row.hold)),
          std::string(to_text(row.estimate.method)),
          std::string(to_text(row.to_native.method)),
          row.estimate.few() ? "few" : "",
          fmt::format("{}", fmt::join(apart, ";"))};
}

}  // namespace

std::vector<MeasureRow> measure_rows(const ConditionRuns& condition, const std::vector<ConditionRuns>& all) {
  std::vector<MeasureRow> rows;
  const ConditionRuns* native = native_like(condition, all);
  for (const TimeMeasure& measure : time_measures()) {
    if (measure.contexts_only && condition.workload != evidence::Workload::kContext) continue;
    rows.push_back(time_row(condition, native, measure));
  }
  if (!condition.discovers) return rows;
  const RunClasses classes = classes_of(condition);
  for (const Class value :
       {Class::kSelf, Class::kPeer, Class::kDiscoveryFailed, Class::kExternal, Class::kUnresolved}) {
    rows.push_back(share_row(condition, classes, value));
  }
  return rows;
}

std::vector<MeasureRow> measure_rows(const std::vector<Run>& runs) {
  const std::vector<ConditionRuns> conditions = conditions_of(runs);
  std::vector<MeasureRow> rows;
  for (const ConditionRuns& condition : conditions) {
    for (MeasureRow& row : measure_rows(condition, conditions)) rows.push_back(std::move(row));
  }
  return rows;
}

std::string statistics_csv(const std::vector<Run>& runs) {
  std::string csv;
  evidence::append_csv_row(csv, kColumns);
  for (const MeasureRow& row : measure_rows(runs)) evidence::append_csv_row(csv, cells_of(row));
  return csv;
}

}  // namespace rollcall::analysis
