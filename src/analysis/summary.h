// What a person wants to know of an experiment, as values: per topology and arm
// the classes and the wall times over its valid runs, and whether the controls
// held. src/report lays it out; the exit status of `rollcall run` follows from it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/classify.h"
#include "analysis/estimate.h"
#include "analysis/knowledge.h"
#include "evidence/records.h"

namespace rollcall::analysis {

// Time inside the library less the real calls that it wraps, over all workers that tell it.
struct AddedTime {
  int n = 0;
  std::optional<int64_t> p50_ns;  // nearest-rank; unset where n is 0
  std::optional<int64_t> p99_ns;
};

struct Condition {
  evidence::Topology topology;
  std::string arm;
  bool has_shim = false;
  bool discovers = false;  // has classes: not without a shim, and not where it is only timed
  evidence::Workload workload = evidence::Workload::kInit;
  evidence::Hold hold = evidence::Hold::kNone;
  int valid_runs = 0;
  int invalid_runs = 0;
  // Of the failed, contradicting and missing discoveries over the valid runs: how often
  // each reason was given.
  std::map<std::string, int> reasons;
  ClassCounts classes;  // over the valid runs; all zero without a shim
  // Of an arm that claims two numbers, over the valid runs: which of them its workers know.
  std::optional<Knowledge> knowledge;
  AddedTime added;           // over the valid runs: in all but the first context
  AddedTime context_added;   // in the hook on the first context
  int workers = 0;           // over the valid runs
  int cuinit_failed = 0;     // over the valid runs
  Estimate external_wall_s;  // over the valid runs
  Estimate span_s;
  Ratio ratio_to_native;  // of external wall times; same topology, workload and hold
};

// The positive control: isolated caches (K >= 2, at least 2 workers) with the
// arm "legacy" must show peers, or the experiment cannot see the fault here.
enum class Control { kAbsent, kNotVisible, kVisible };

// What the runs were measured on; times mean nothing without it.
struct Setting {
  evidence::NodeKind node = evidence::NodeKind::kSimulated;
  std::string profile;               // empty on a real node
  std::string device_name;           // empty on a simulated node
  std::string driver_version;        // the same
  std::optional<double> time_scale;  // unset on a real node
  evidence::Isolation isolation = evidence::Isolation::kNone;
  evidence::NvmlView view = evidence::NvmlView::kUnknown;
  int neighbours = 0;
  bool broker = false;  // some run had a broker of its own
  std::vector<std::string> devices;
  std::string truth;
  friend bool operator==(const Setting&, const Setting&) = default;
};

struct ExperimentSummary {
  std::vector<Setting> settings;      // each once, in order of first run; usually one
  std::vector<Condition> conditions;  // by topology, then arms without a shim, then by name
  Control control = Control::kAbsent;
  std::vector<std::pair<std::string, std::vector<std::string>>> invalid;  // run id and its reasons
  std::vector<MeasureRow> measures;                                       // the rows of statistics.csv
  int runs = 0;
};
ExperimentSummary summarise(const std::vector<evidence::Run>& runs);

// The row of that measure ("external_wall_s", …) and condition; null if there is none.
const MeasureRow* measure_of(const ExperimentSummary& summary, const Condition& condition,
                             std::string_view measure);

// The classes of `wanted` that occurred in the arms under test. Those are all shim
// arms; but where there are others, "legacy" is only the control and is not
// judged. Invalid runs are judged, too: their times mean nothing, but a worker
// that held another's PID held it.
// Those that could not be resolved keep a gate from knowing what it asks.
std::set<Class> occurred(const std::vector<evidence::Run>& runs, const std::set<Class>& wanted);

}  // namespace rollcall::analysis
