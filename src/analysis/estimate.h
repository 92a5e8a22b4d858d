// What is said of repeated measurements: how many, where they lie, how sure that
// is, and which of them stand apart. The rules are those of docs/evidence.md
// ("Statistics"); every number of statistics.csv, of the report and of --json is
// one of these.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/classify.h"
#include "evidence/records.h"

namespace rollcall::analysis {

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// How a 95 % interval was made; `kNone` exactly where there is none.
enum class IntervalMethod {
  kNone,
  kLogT,         // Student's t on the logarithms: 2 <= n < 8, all values positive; of the geometric mean
  kBootstrap,    // seeded percentile bootstrap of the mean: n >= 8
  kT,            // Student's t on the values themselves, cut to [0, 1]: shares, 2 <= n < 8
  kRuleOfThree,  // 3/n for what was never seen in n workers; holds if workers are independent
};
std::string_view to_text(IntervalMethod value);  // "", "log-t", "bootstrap", "t", "rule-of-three"

// Fewer runs than this are marked wherever their interval is shown.
inline constexpr int kFewRuns = 5;
// From here on the bootstrap; below it t on the log scale.
inline constexpr int kBootstrapFrom = 8;

// A run whose value lies far from the others of its condition. It is named and counted.
struct Outlier {
  std::string run_id;
  double value = 0;
};

// One sample of positive numbers: times of runs, in the unit of the measure.
struct Estimate {
  int n = 0;
  std::optional<double> mean;    // arithmetic
  std::optional<double> sd;      // sample SD; unset below n = 2
  std::optional<double> median;  // of an even number the mean of the two in the middle
  std::optional<Interval> ci95;
  IntervalMethod method = IntervalMethod::kNone;
  [[nodiscard]] bool few() const { return n < kFewRuns; }
};
// The same values, in any order, give the same estimate: the bootstrap's seed is fixed.
Estimate estimate(std::vector<double> values);
// One sample of shares, each of a run; all runs have `workers` workers together.
Estimate estimate_share(std::vector<double> values, int workers);

// Those that lie beyond Tukey's outer fences, in the order of the values: further than three times
// the distance of the hinges from one of them. Nobody below five values.
std::vector<Outlier> outliers(const std::vector<std::pair<std::string, double>>& values);

// Ratio of the arithmetic means, a over b, with its interval: Welch on the logarithms
// where either side has fewer than kBootstrapFrom values (kLogT), else bootstrap of both sides.
struct Ratio {
  std::optional<double> value;  // unset where either side is empty or b's mean is not positive
  std::optional<Interval> ci95;
  IntervalMethod method = IntervalMethod::kNone;
};
Ratio ratio_of_means(const std::vector<double>& a, const std::vector<double>& b);

// One row of statistics.csv: one measure of one condition, over its valid runs.
struct MeasureRow {
  evidence::Topology topology;
  std::string arm;
  evidence::Workload workload = evidence::Workload::kInit;
  evidence::Hold hold = evidence::Hold::kNone;
  // "span_s", "external_wall_s", "cuinit_p50_ms", "cuinit_p95_ms", "cuinit_p99_ms",
  // "first_context_p50_ms"; for arms that discover also "self_share", "peer_share", …
  std::string measure;
  Estimate estimate;
  Ratio to_native;  // empty for native itself, for shares, and where there is no native to compare with
  std::vector<Outlier> outliers;
  std::vector<std::pair<std::string, double>> values;  // run id and value, in the order of run numbers
};
// In the order of the summary's conditions, measures as listed above.
std::vector<MeasureRow> measure_rows(const std::vector<evidence::Run>& runs);

// The table. Invalid runs are in no number of it.
std::string statistics_csv(const std::vector<evidence::Run>& runs);

}  // namespace rollcall::analysis
