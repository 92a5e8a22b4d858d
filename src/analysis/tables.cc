// One row type per table, one function per row. A cell is text or empty; empty
// stands for "does not apply" and "not known" alike, and never becomes 0.
#include "analysis/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/classify.h"
#include "analysis/conditions.h"
#include "analysis/estimate.h"
#include "analysis/measures.h"
#include "analysis/roster.h"
#include "analysis/statistics.h"
#include "analysis/times.h"
#include "analysis/validity.h"
#include "evidence/csv.h"

namespace rollcall::analysis {
namespace {

using evidence::append_csv_row;
using evidence::CsvRow;
using evidence::Run;
using evidence::RunRecord;
using evidence::WorkerRecord;

const CsvRow kSummaryColumns = {"run_id",
                                "topology",
                                "caches",
                                "workers_per_cache",
                                "workers",
                                "arm",
                                "run",
                                "node",
                                "isolation",
                                "workload",
                                "cuinit_ok",
                                "cuinit_failed",
                                "self",
                                "peer",
                                "discovery_failed",
                                "external",
                                "unresolved",
                                "span_s",
                                "external_wall_s",
                                "cuinit_p50_ms",
                                "cuinit_p95_ms",
                                "cuinit_p99_ms",
                                "cuinit_max_ms",
                                "valid",
                                "invalid_reasons",
                                "resolve_p50_ms",
                                "context_p50_ms",
                                "context_max_ms",
                                "collect_s",
                                "hold",
                                "added_p50_ms",
                                "added_p99_ms",
                                "context_added_p50_ms",
                                "context_added_p99_ms",
                                "control_p50_ms",
                                "control_max_ms",
                                "first_context_p50_ms",
                                "first_context_max_ms",
                                "neighbours",
                                "devices"};

const CsvRow kMappingColumns = {"run_id",     "topology",        "arm",        "run",
                                "worker",     "cache",           "worker_pid", "assigned_pid",
                                "class",      "peer_worker",     "peer_cache", "alias",
                                "tier",       "cuinit_ms",       "source",     "assigned_nvml_pid",
                                "host_class", "nvml_class",      "nvml_view",  "nvml_tier",
                                "added_ms",   "context_added_ms"};

constexpr const char* kTruthColumn = "truth";

const CsvRow kWallColumns = {"topology", "arm", "run", "external_wall_s"};

template <typename T>
std::string number(const std::optional<T>& value) {
  return value ? fmt::to_string(*value) : std::string();
}

std::string ms(const std::optional<int64_t>& ns) {
  return ns ? milliseconds_text(*ns) : std::string();
}
std::string s(const std::optional<int64_t>& ns) {
  return ns ? seconds_text(*ns) : std::string();
}
std::string word(const std::optional<Class>& value) {
  return value ? std::string(to_text(*value)) : std::string();
}

// Tables with imported runs have one column more, so that no row of theirs can be taken for
// one that a launcher vouches for.
bool any_imported(const std::vector<Run>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.record.imported(); });
}

CsvRow with_truth(CsvRow row, bool wanted, std::string truth) {
  if (wanted) row.push_back(std::move(truth));
  return row;
}

std::string truth_text(const RunRecord& record) {
  return record.truth == "log" ? "log: not checked against a launcher" : record.truth;
}

std::string joined(const std::vector<std::string>& reasons) {
  return fmt::format("{}", fmt::join(reasons, ";"));
}

void append(CsvRow& row, std::initializer_list<std::string> cells) {
  row.insert(row.end(), cells);
}

void append_class_counts(CsvRow& row, const Run& run) {
  if (!run.record.discovers()) {
    row.insert(row.end(), kClasses.size(), std::string());
    return;
  }
  const ClassCounts counts = count_classes(classify(run));
  for (const Class value :
       {Class::kSelf, Class::kPeer, Class::kDiscoveryFailed, Class::kExternal, Class::kUnresolved}) {
    row.push_back(fmt::to_string(counts.of(value)));
  }
}

CsvRow summary_row(const Run& run) {
  const RunRecord& record = run.record;
  const Roster roster(run);
  const auto workers = workers_of(run, roster);
  int64_t ok = std::count_if(workers.begin(), workers.end(),
                             [](const WorkerRecord* w) { return w->cuinit_result == kCudaSuccess; });
  // Workers whose cuInit never returned are in neither count.
  int64_t failed = std::count_if(workers.begin(), workers.end(), [](const WorkerRecord* w) {
    return w->cuinit_result.has_value() && *w->cuinit_result != kCudaSuccess;
  });
  const auto cuinit = values_of(workers, cuinit_ns);
  auto cuinit_max = percentile_ns(cuinit, 100);
  // Logs may say how many calls succeeded without saying whose, or nothing at all; then 0
  // would look like a count.
  const bool counted = !record.imported() || ok + failed > 0;
  const auto totals = counted ? std::nullopt : benchmark_totals(record);
  if (totals) {
    ok = totals->ok;
    failed = totals->failed;
    cuinit_max = totals->cuinit_max_ns;
  }
  const bool known = counted || totals;
  const auto resolve = values_of(workers, [](const WorkerRecord& w) { return w.resolve_ns; });
  const auto context = record.workload == evidence::Workload::kContext ? values_of(workers, context_ns)
                                                                       : std::vector<int64_t>();
  const auto added = values_of(workers, [](const WorkerRecord& w) { return w.discovery.added_ns; });
  const auto context_added =
      values_of(workers, [](const WorkerRecord& w) { return w.discovery.context_added_ns; });
  const auto control = values_of(workers, control_ns);
  const auto first_context = record.workload == evidence::Workload::kContext
                                 ? values_of(workers, first_context_ns)
                                 : std::vector<int64_t>();
  const auto reasons = invalid_reasons(run);

  CsvRow row = {record.id(),
                record.topology.text(),
                fmt::to_string(record.topology.caches()),
                fmt::to_string(record.topology.workers_per_cache()),
                fmt::to_string(record.topology.workers()),
                record.arm,
                fmt::to_string(record.repetition),
                std::string(to_text(record.node)),
                std::string(to_text(record.isolation)),
                std::string(to_text(record.workload)),
                known ? fmt::to_string(ok) : std::string(),
                known ? fmt::to_string(failed) : std::string()};
  append_class_counts(row, run);
  append(row, {s(span_ns(run)),
               s(external_wall_ns(record)),
               ms(percentile_ns(cuinit, 50)),
               ms(percentile_ns(cuinit, 95)),
               ms(percentile_ns(cuinit, 99)),
               ms(cuinit_max),
               reasons.empty() ? "true" : "false",
               joined(reasons),
               ms(percentile_ns(resolve, 50)),
               ms(percentile_ns(context, 50)),
               ms(percentile_ns(context, 100)),
               s(record.collect_ns),
               std::string(to_text(record.hold)),
               ms(percentile_ns(added, 50)),
               ms(percentile_ns(added, 99)),
               ms(percentile_ns(context_added, 50)),
               ms(percentile_ns(context_added, 99)),
               ms(percentile_ns(control, 50)),
               ms(percentile_ns(control, 100)),
               ms(percentile_ns(first_context, 50)),
               ms(percentile_ns(first_context, 100)),
               fmt::to_string(record.neighbours),
               fmt::format("{}", fmt::join(record.devices, "/"))});
  return row;
}

CsvRow mapping_row(const RunRecord& record, const Classified& one, const WorkerRecord& worker) {
  const bool view_known = record.view != evidence::NvmlView::kUnknown;
  return {record.id(),
          record.topology.text(),
          record.arm,
          fmt::to_string(record.repetition),
          fmt::to_string(one.worker),
          fmt::to_string(one.cache),
          number(worker.pid),
          number(worker.discovery.assigned_pid),
          std::string(to_text(one.cls)),
          number(one.peer_worker),
          number(one.peer_cache),
          one.alias,
          worker.discovery.tier,
          ms(cuinit_ns(worker)),
          worker.discovery.source,
          number(worker.discovery.assigned_nvml_pid),
          word(one.host_class),
          word(one.nvml_class),
          view_known ? std::string(to_text(record.view)) : std::string(),
          worker.discovery.nvml_tier,
          ms(worker.discovery.added_ns),
          ms(worker.discovery.context_added_ns)};
}

}  // namespace

std::string summary_csv(const std::vector<Run>& runs) {
  std::string csv;
  const bool truth = any_imported(runs);
  append_csv_row(csv, with_truth(kSummaryColumns, truth, kTruthColumn));
  for (const Run* run : in_order(runs)) {
    append_csv_row(csv, with_truth(summary_row(*run), truth, truth_text(run->record)));
  }
  return csv;
}

std::string pid_mapping_csv(const std::vector<Run>& runs) {
  // A worker without a usable record has a row, and nothing in it but its place and class.
  const WorkerRecord nothing_known;
  std::string csv;
  const bool truth = any_imported(runs);
  append_csv_row(csv, with_truth(kMappingColumns, truth, kTruthColumn));
  for (const Run* run : in_order(runs)) {
    const Roster roster(*run);
    for (const Classified& one : classify(*run)) {
      const WorkerRecord* worker = roster.record(one.worker);
      append_csv_row(
          csv, with_truth(mapping_row(run->record, one, worker != nullptr ? *worker : nothing_known), truth,
                          truth_text(run->record)));
    }
  }
  return csv;
}

std::string external_wall_times_csv(const std::vector<Run>& runs) {
  std::string csv;
  append_csv_row(csv, kWallColumns);
  for (const Run* run : in_order(runs)) {
    // The table has no column for validity and is made for averaging, so the
    // time of an invalid run does not stand in it.
    const bool valid = invalid_reasons(*run).empty();
    append_csv_row(csv, {run->record.topology.text(), run->record.arm, fmt::to_string(run->record.repetition),
                         valid ? s(external_wall_ns(run->record)) : std::string()});
  }
  return csv;
}

std::vector<DerivedFile> derive_all(const std::vector<Run>& runs) {
  return {{"summary.csv", summary_csv(runs)},
          {"pid-mapping-summary.csv", pid_mapping_csv(runs)},
          {"external-wall-times.csv", external_wall_times_csv(runs)},
          {"statistics.csv", statistics_csv(runs)},
          {"derived-by.txt", "rollcall " ROLLCALL_VERSION "\n"}};
}

}  // namespace rollcall::analysis
