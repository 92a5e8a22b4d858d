// The sentences that follow from the numbers, each by a fixed rule that docs/report.md
// tells: how much slower, how sure, how it grows; and what the experiment cannot tell.
// A sentence is said only of what was observed.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/conditions.h"
#include "report/growth.h"
#include "report/model.h"
#include "report/terminal.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::Class;
using analysis::Condition;
using analysis::Control;
using analysis::MeasureRow;

class Sentences {
 public:
  explicit Sentences(const ReportModel& model)
      : model_(model),
        mixed_(has_mixed_workloads(model.summary)),
        decimals_(seconds_decimals(model.summary)) {}

  std::vector<std::string> all() {
    for (const Condition& c : model_.summary.conditions) slower(c);
    growth();
    for (const Condition& c : model_.summary.conditions) never_seen(c);
    outliers();
    return std::move(said_);
  }

 private:
  [[nodiscard]] std::string name(const Condition& c) const {
    return fmt::format("{} {}", c.topology.text(), arm_text(c.arm, c.workload, c.hold, mixed_));
  }
  // How much longer than without a library, and whether that is decided. Logs from elsewhere
  // often tell no wall time, but when the last worker was done.
  void slower(const Condition& c) {
    const Condition* native = analysis::native_like(c, model_.summary.conditions);
    if (native == nullptr) return;
    // nvmlInit and cuInit are two things: which is slower says nothing of either.
    if (c.arm == "nvml-only") return;
    if (c.ratio_to_native.value) {
      slower_by(c, c.ratio_to_native, c.external_wall_s, native->external_wall_s, "wall time");
      return;
    }
    const MeasureRow* span = analysis::measure_of(model_.summary, c, "span_s");
    if (span == nullptr || !span->to_native.value) return;
    slower_by(c, span->to_native, c.span_s, native->span_s, "span");
  }

  void slower_by(const Condition& c, const analysis::Ratio& ratio, const analysis::Estimate& here,
                 const analysis::Estimate& there, const char* what) {
    const std::string times = fmt::format("{} against {}, n = {} and {}", seconds_text(here, decimals_),
                                          seconds_text(there, decimals_), here.n, there.n);
    if (!ratio.ci95) {
      said_.push_back(fmt::format(
          "{} took {} the {} of native ({}); from a single run on a side nothing can be said of how "
          "sure that is.",
          name(c), ratio_text(*ratio.value), what, times));
      return;
    }
    const std::string interval =
        fmt::format("95 % interval of the ratio {:.2f} to {:.2f}", ratio.ci95->low, ratio.ci95->high);
    if (ratio.ci95->low <= 1 && ratio.ci95->high >= 1) {
      said_.push_back(fmt::format(
          "{}: whether it is slower than native is not decided: the ratio of the {}s is {} ({}; {}), "
          "and 1 lies within.",
          name(c), what, ratio_text(*ratio.value), times, interval));
      return;
    }
    said_.push_back(fmt::format("{} is {} than native: {} the {} ({}; {}).", name(c),
                                *ratio.value > 1 ? "slower" : "faster", ratio_text(*ratio.value), what, times,
                                interval));
  }

  // From the fewest to the most workers.
  void growth() {
    for (const Growth& series : growth_of(model_.summary)) {
      const Condition& a = *series.conditions.front();
      const Condition& b = *series.conditions.back();
      said_.push_back(
          fmt::format("{}, {}: from {} to {} workers ({:.3g} times as many) the wall time went from {} to "
                      "{}: {:.3g} times "
                      "as long.",
                      arm_text(a.arm, a.workload, a.hold, mixed_), series.where, a.topology.workers(),
                      b.topology.workers(), static_cast<double>(b.topology.workers()) / a.topology.workers(),
                      seconds_text(a.external_wall_s, decimals_), seconds_text(b.external_wall_s, decimals_),
                      *b.external_wall_s.mean / *a.external_wall_s.mean));
    }
  }

  // That nothing was seen is no proof that it does not happen.
  void never_seen(const Condition& c) {
    constexpr double kRuleOfThree = 3;  // -ln(0.05) is 3.0: an event this rare is missed in 5 of 100
    if (!c.discovers || c.valid_runs == 0 || c.workers == 0) return;
    // Where workers could not be resolved it is not known what they were.
    if (c.classes.of(Class::kPeer) > 0 || c.classes.of(Class::kUnresolved) > 0) return;
    // Where all failed nobody claimed a PID: there was none to be wrong.
    if (c.classes.of(Class::kDiscoveryFailed) == c.workers) return;
    // "No peer" would sound like good news where others are wrong in another way.
    const int others = c.classes.of(Class::kExternal) + c.classes.of(Class::kDiscoveryFailed);
    const std::string besides =
        others == 0 ? std::string()
                    : fmt::format(" (but {} failed and {} hold a PID of no worker)",
                                  c.classes.of(Class::kDiscoveryFailed), c.classes.of(Class::kExternal));
    if (c.topology.workers() < 2) return;  // there is no peer whose PID it could hold
    const double bound = kRuleOfThree / c.workers;
    if (bound >= 1) {
      said_.push_back(fmt::format("{}: no peer among {} workers{}, which are too few to bound their share.",
                                  name(c), c.workers, besides));
      return;
    }
    said_.push_back(fmt::format(
        "{}: no peer among {} workers{}. If workers were independent, their share would be below {} (3/n, 95 "
        "%); those of one run are not, so the bound may be too low.",
        name(c), c.workers, besides, percent_text(bound)));
  }

  void outliers() {
    constexpr size_t kMaxNamed = 5;
    std::set<std::string> ids;
    for (const MeasureRow& row : model_.summary.measures) {
      for (const analysis::Outlier& outlier : row.outliers)
        ids.insert(printable(outlier.run_id, kMaxArmWidth));
    }
    if (ids.empty()) return;
    std::vector<std::string> named(ids.begin(), ids.end());
    const size_t count = named.size();
    if (count > kMaxNamed) named.resize(kMaxNamed);
    said_.push_back(fmt::format(
        "{} far from the others of {} condition in some measure: {}{}. {} counted all "
        "the same.",
        count == 1 ? "One run lies" : fmt::format("{} runs lie", count), count == 1 ? "its" : "their",
        fmt::join(named, ", "), count > kMaxNamed ? ", …" : "", count == 1 ? "It is" : "They are"));
  }

  const ReportModel& model_;
  bool mixed_;
  int decimals_;
  std::vector<std::string> said_;
};

bool any_run(const ReportSource& source, bool (*holds)(const evidence::RunRecord&)) {
  return std::any_of(source.runs.begin(), source.runs.end(),
                     [&](const evidence::Run& run) { return holds(run.record); });
}

std::string control_limit(const analysis::ExperimentSummary& summary) {
  switch (summary.control) {
    case Control::kVisible:
      return {};
    case Control::kNotVisible:
      return "The control showed no fault, so that no peers were seen in another arm says nothing.";
    case Control::kAbsent:
      if (shows_peers(summary)) {
        return "There is no control, but the fault was seen: what was seen needs none. In conditions without "
               "peers it is not known whether the fault would be seen.";
      }
      return "There is no control: without valid runs of legacy on isolated caches it is not known whether "
             "the fault would be seen here, and that no peers were seen says nothing.";
  }
  return {};
}

// Of how the runs were made.
void limits_of_runs(const ReportModel& model, const ReportSource& source, std::vector<std::string>& list) {
  const auto& conditions = model.summary.conditions;
  if (const auto fewest = std::min_element(
          conditions.begin(), conditions.end(),
          [](const Condition& a, const Condition& b) { return a.valid_runs < b.valid_runs; });
      fewest != conditions.end() && fewest->valid_runs < analysis::kFewRuns) {
    list.push_back(fmt::format(
        "Few runs: {} in the smallest condition. Intervals from fewer than {} runs are marked with *: they "
        "rest on the assumption that times are log-normal, and no test can show that with so few.",
        fewest->valid_runs, analysis::kFewRuns));
  }
  if (const size_t invalid = model.summary.invalid.size(); invalid > 0) {
    list.push_back(fmt::format(
        "{} of {} not valid; {} listed with the reasons. If what made them invalid has to do with what was "
        "measured, the valid ones flatter it.",
        invalid, plural(model.summary.runs, "run"), invalid == 1 ? "it is" : "they are"));
  }
  const bool native = std::any_of(conditions.begin(), conditions.end(),
                                  [](const Condition& c) { return c.arm == "native" && c.valid_runs > 0; });
  if (!native)
    list.emplace_back(
        "No valid run of native: what the driver alone takes is not known, so no cost can be told.");
  if (any_run(source, [](const auto& run) { return run.discovers() && run.topology.workers() > 1; })) {
    list.emplace_back(
        "Workers of one run are not independent: they wait for each other. Intervals of shares are over "
        "runs, "
        "but for the rule of three, which counts workers and so is too narrow.");
  }
}

// Of what the experiment was made on, and of what it did there.
void limits_of_setting(const ReportSource& source, std::vector<std::string>& list) {
  using evidence::RunRecord;
  if (any_run(source, [](const RunRecord& run) { return run.node == evidence::NodeKind::kSimulated; })) {
    list.emplace_back(
        "Simulated node: this shows what the model's assumptions lead to, not how often a given GPU shows "
        "it. "
        "Times are those of the model at its time scale and are never multiplied back.");
  }
  if (any_run(source, [](const RunRecord& run) { return run.node == evidence::NodeKind::kUnknown; })) {
    list.emplace_back("The logs do not say on which GPU and driver they were made; nothing here checks it.");
  }
  if (any_run(source, [](const RunRecord& run) { return run.truth != "launcher"; })) {
    list.emplace_back(
        "Not checked against a launcher: a worker's own PID is the one in its log. Workers that the topology "
        "has and that never spoke are unresolved; which PIDs were theirs is not known.");
  }
  if (any_run(source, [](const RunRecord& run) { return !run.imported_from.empty(); })) {
    list.emplace_back(
        "Imported: nobody watched these runs, so what only a launcher sees (idle GPU, shim loaded, how a "
        "worker ended) was not checked.");
  }
  if (any_run(source, [](const RunRecord& run) {
        return run.workload == evidence::Workload::kInit && !run.imported();
      })) {
    list.emplace_back(
        "The workload is cuInit alone. But for the probe context of a library, or of native-context, workers "
        "make none; nobody allocates memory or launches a kernel. What a wrong PID does to limits and "
        "accounting later was not measured.");
  }
  if (any_run(source, [](const RunRecord& run) { return run.imported(); })) {
    list.emplace_back(
        "The logs do not say what the workers did besides cuInit, nor how long they stayed: cuInit alone is "
        "assumed. What a wrong PID does to limits and accounting later was not measured.");
  }
  if (any_run(source, [](const RunRecord& run) { return run.workload == evidence::Workload::kContext; })) {
    list.emplace_back(
        "Workers make one context and stop: they allocate no memory of their own and launch no kernel. What "
        "a "
        "wrong PID does to limits and accounting later was not measured.");
  }
  if (any_run(source, [](const RunRecord& run) {
        return run.hold == evidence::Hold::kNone && run.imported_from.empty();
      })) {
    list.emplace_back(
        "With hold none a worker leaves as soon as it is read. Processes of real pods stay, and their "
        "threads "
        "and contexts slow those that still start.");
  }
  if (any_run(source, [](const RunRecord& run) { return run.arm == "legacy"; })) {
    list.emplace_back(
        "The arm legacy is a reference library that rebuilds the snapshot-difference algorithm; it is no "
        "measurement of the library that it was rebuilt from.");
  }
}

}  // namespace

std::vector<std::string> interpretation(const ReportModel& model) {
  return Sentences(model).all();
}

std::vector<std::string> limits(const ReportModel& model, const ReportSource& source) {
  std::vector<std::string> list;
  if (!source.finished) {
    list.push_back(fmt::format(
        "Unfinished: this report is of the {} done so far, and no checksum protects the folder yet.",
        plural(model.summary.runs, "run")));
  }
  if (source.runs.empty()) return list;
  if (std::string control = control_limit(model.summary); !control.empty()) list.push_back(control);
  limits_of_runs(model, source, list);
  limits_of_setting(source, list);
  return list;
}

}  // namespace rollcall::report
