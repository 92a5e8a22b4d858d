// statistics.csv: its columns, its rows, and that only valid runs are in its numbers.
#include <gtest/gtest.h>

#include "analysis/estimate.h"
#include "analysis_runs.h"
#include "evidence/csv.h"

namespace rollcall::analysis {
namespace {

using test::assign;
using test::good_run;
using test::kMs;
using test::pid_of;
using Runs = std::vector<evidence::Run>;

evidence::Run timed(evidence::Run run, int64_t wall_ms) {
  run.record.last_gone_ns = wall_ms * kMs + *run.record.collect_ns;
  return run;
}

Runs two_conditions() {
  return {timed(good_run("1x4", "native", 1, 1), 10'000), timed(good_run("1x4", "legacy", 2, 1), 20'000),
          timed(good_run("1x4", "native", 3, 2), 12'000), timed(good_run("1x4", "legacy", 4, 2), 24'000)};
}

std::string line_of(const Runs& runs, const std::string& start) {
  const std::string csv = statistics_csv(runs);
  const size_t at = csv.find("\n" + start);
  if (at == std::string::npos) return {};
  return csv.substr(at + 1, csv.find('\n', at + 1) - at - 1);
}

const MeasureRow& row_of(const std::vector<MeasureRow>& rows, const std::string& arm,
                         const std::string& measure) {
  for (const MeasureRow& row : rows) {
    if (row.arm == arm && row.measure == measure) return row;
  }
  throw std::runtime_error("no row of " + arm + " " + measure);
}

TEST(StatisticsTable, ColumnsStayWhereTheyAre) {
  EXPECT_EQ(statistics_csv({}),
            "topology,arm,measure,n,mean,sd,median,ci95_low,ci95_high,ratio_to_native,ratio_ci95_low,"
            "ratio_ci95_high,workload,hold,ci95_method,ratio_ci95_method,few,outliers\n");
}

TEST(StatisticsTable, ARowInFull) {
  EXPECT_EQ(
      line_of(two_conditions(), "1x4,native,external_wall_s"),
      "1x4,native,external_wall_s,2,11.000000,1.414214,11.000000,3.439886,34.884876,,,,init,none,log-t,,"
      "few,");
  EXPECT_EQ(line_of(two_conditions(), "1x4,legacy,external_wall_s"),
            "1x4,legacy,external_wall_s,2,22.000000,2.828427,22.000000,6.879772,69.769752,2.000000,1.148487,"
            "3.482842,init,none,log-t,log-t,few,");
  EXPECT_EQ(
      line_of(two_conditions(), "1x4,legacy,peer_share"),
      "1x4,legacy,peer_share,2,0.000000,0.000000,0.000000,0.000000,0.375000,,,,init,none,rule-of-three,,"
      "few,");
}

TEST(StatisticsTable, MeasuresStandInTheirOrder) {
  auto run = good_run("1x2", "legacy");
  const auto names = [&] {
    std::vector<std::string> result;
    for (const MeasureRow& row : measure_rows({run})) result.push_back(row.measure);
    return result;
  };
  EXPECT_EQ(names(),
            (std::vector<std::string>{"span_s", "external_wall_s", "cuinit_p50_ms", "cuinit_p95_ms",
                                      "cuinit_p99_ms", "self_share", "peer_share", "discovery_failed_share",
                                      "external_share", "unresolved_share"}));
  run = good_run("1x2", "native");
  run.record.workload = evidence::Workload::kContext;
  for (auto& worker : run.workers) worker.context_result = 0, worker.context_ns = 5 * kMs;
  EXPECT_EQ(names(), (std::vector<std::string>{"span_s", "external_wall_s", "cuinit_p50_ms", "cuinit_p95_ms",
                                               "cuinit_p99_ms", "first_context_p50_ms"}))
      << "native arms have no classes";
  EXPECT_EQ(*measure_rows({run}).back().estimate.mean, 20) << "from the opening of the gate";
}

TEST(StatisticsTable, ACuInitPercentileIsThatOfEachRunAveraged) {
  auto second = good_run("1x4", "native", 2, 2);
  for (auto& worker : second.workers) *worker.cuinit_ns *= 3;
  const auto rows = measure_rows({good_run("1x4", "native"), second});
  EXPECT_EQ(*row_of(rows, "native", "cuinit_p50_ms").estimate.mean, (20 + 60) / 2);
  EXPECT_EQ(*row_of(rows, "native", "cuinit_p99_ms").estimate.mean, (40 + 120) / 2);
}

TEST(StatisticsTable, SharesAreMeansOfTheRunsShares) {
  auto first = good_run("2x2", "legacy", 1, 1);
  assign(first, 0, pid_of(1));
  auto second = good_run("2x2", "legacy", 2, 2);
  for (int i = 0; i < 3; ++i) assign(second, i, pid_of(i + 1));
  const auto rows = measure_rows({first, second});
  EXPECT_EQ(*row_of(rows, "legacy", "peer_share").estimate.mean, 0.5);
  EXPECT_EQ(*row_of(rows, "legacy", "self_share").estimate.mean, 0.5);
  EXPECT_EQ(row_of(rows, "legacy", "peer_share").estimate.method, IntervalMethod::kT);
  EXPECT_EQ(row_of(rows, "legacy", "external_share").estimate.ci95, (Interval{0, 3.0 / 8})) << "8 workers";
  EXPECT_FALSE(row_of(rows, "legacy", "peer_share").to_native.value);
}

TEST(StatisticsTable, InvalidRunsAreInNoNumber) {
  Runs runs = two_conditions();
  runs.push_back(timed(good_run("1x4", "legacy", 5, 3), 99'000));
  runs.back().workers[0].fate = evidence::Fate::kDied;
  EXPECT_EQ(statistics_csv(runs), statistics_csv(two_conditions()));
}

TEST(StatisticsTable, AConditionWithoutAValidRunHasEmptyRows) {
  Runs runs = {good_run("1x2", "legacy")};
  runs[0].workers[0].fate = evidence::Fate::kDied;
  EXPECT_EQ(line_of(runs, "1x2,legacy,span_s"), "1x2,legacy,span_s,0,,,,,,,,,init,none,,,few,");
  EXPECT_EQ(line_of(runs, "1x2,legacy,peer_share"), "1x2,legacy,peer_share,0,,,,,,,,,init,none,,,few,")
      << "not even the bound of a class that was never seen";
}

TEST(StatisticsTable, TheRatioIsWithinOneTopologyWorkloadAndHold) {
  auto held = good_run("1x4", "legacy", 5);
  held.record.hold = evidence::Hold::kAll;
  Runs runs = two_conditions();
  runs.push_back(held);
  runs.push_back(good_run("2x2", "legacy", 6));
  int with_ratio = 0;
  for (const MeasureRow& row : measure_rows(runs)) {
    if (!row.to_native.value) continue;
    ++with_ratio;
    EXPECT_EQ(row.topology.text(), "1x4");
    EXPECT_EQ(row.hold, evidence::Hold::kNone);
    EXPECT_EQ(row.arm, "legacy");
  }
  EXPECT_EQ(with_ratio, 5) << "each time";
}

TEST(StatisticsTable, ValuesAreNamedByTheirRunInTheOrderOfNumbers) {
  Runs runs = two_conditions();
  std::swap(runs[0], runs[2]);
  const auto rows = measure_rows(runs);
  const auto& values = row_of(rows, "native", "external_wall_s").values;
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0], (std::pair<std::string, double>("001-1x4-native-r1", 10)));
  EXPECT_EQ(values[1], (std::pair<std::string, double>("003-1x4-native-r2", 12)));
}

TEST(StatisticsTable, OutliersAreNamedAndStayInTheNumbers) {
  Runs runs;
  for (int i = 1; i <= 5; ++i)
    runs.push_back(timed(good_run("1x2", "native", i, i), i == 3 ? 90'000 : 10'000 + i));
  const auto rows = measure_rows(runs);
  const MeasureRow& row = row_of(rows, "native", "external_wall_s");
  ASSERT_EQ(row.outliers.size(), 1U);
  EXPECT_EQ(row.outliers[0].run_id, "003-1x2-native-r3");
  EXPECT_EQ(row.outliers[0].value, 90);
  EXPECT_EQ(row.estimate.n, 5);
  EXPECT_NEAR(*row.estimate.mean, 26.0024, 1e-9);
  EXPECT_TRUE(line_of(runs, "1x2,native,external_wall_s").ends_with(",log-t,,,003-1x2-native-r3"));
}

}  // namespace
}  // namespace rollcall::analysis
