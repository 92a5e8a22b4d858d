// What a person wants to know of an experiment, as values: per topology and arm
// the classes and the wall times over its valid runs, and whether the controls
// held. src/report lays it out; the exit status of `rollcall run` follows from it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/classify.h"
#include "evidence/records.h"

namespace rollcall::analysis {

// Mean and sample standard deviation (unset below n = 2).
struct MeanSd {
  int n = 0;
  std::optional<double> mean;
  std::optional<double> sd;
};
MeanSd mean_sd(const std::vector<double>& values);

// True nearest-rank percentile of a non-empty list: the value at rank
// ceil(p/100 * n), 1-based, of the sorted values. Unset for an empty list.
std::optional<double> percentile(std::vector<double> values, double p);

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
  ClassCounts classes;     // over the valid runs; all zero without a shim
  int workers = 0;         // over the valid runs
  int cuinit_failed = 0;   // over the valid runs
  MeanSd external_wall_s;  // over the valid runs
  MeanSd span_s;
  std::optional<double> ratio_to_native;  // ratio of mean external wall times, same topology
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
  std::vector<std::string> devices;
  std::string truth;
  friend bool operator==(const Setting&, const Setting&) = default;
};

struct ExperimentSummary {
  std::vector<Setting> settings;      // each once, in order of first run; usually one
  std::vector<Condition> conditions;  // by topology, then arms without a shim, then by name
  Control control = Control::kAbsent;
  std::vector<std::pair<std::string, std::vector<std::string>>> invalid;  // run id and its reasons
  int runs = 0;
};
ExperimentSummary summarise(const std::vector<evidence::Run>& runs);

// The classes of `wanted` that occurred in the arms under test. Those are all shim
// arms; but where there are others, "legacy" is only the control and is not
// judged. Invalid runs are judged, too: their times mean nothing, but a worker
// that held another's PID held it.
// Those that could not be resolved keep a gate from knowing what it asks.
std::set<Class> occurred(const std::vector<evidence::Run>& runs, const std::set<Class>& wanted);

}  // namespace rollcall::analysis
