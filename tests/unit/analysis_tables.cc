// The derived tables, golden: columns in the order of docs/evidence.md, empty
// where something does not apply or is not known.
#include <gtest/gtest.h>

#include <map>

#include "analysis/statistics.h"
#include "analysis/tables.h"
#include "analysis_runs.h"
#include "evidence/csv.h"

namespace rollcall::analysis {
namespace {

using evidence::CsvRow;
using evidence::DiscoveryState;
using evidence::Fate;
using evidence::Workload;
using test::assign;
using test::good_run;
using test::kMs;
using test::kSecond;
using test::pid_of;
using test::unassign;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Row `index` below the header, by column.
std::map<std::string, std::string> row_of(const std::string& csv, size_t index) {
  const auto rows = evidence::parse_csv(csv, "table").value();
  std::map<std::string, std::string> row;
  for (size_t i = 0; i < rows.at(0).size(); ++i) row[rows[0][i]] = rows.at(index + 1).at(i);
  return row;
}

TEST(Tables, ColumnsStayWhereTheyAre) {
  EXPECT_EQ(
      first_line(summary_csv({})),
      "run_id,topology,caches,workers_per_cache,workers,arm,run,node,isolation,workload,cuinit_ok,cuinit_"
      "failed,"
      "self,peer,discovery_failed,external,unresolved,span_s,external_wall_s,cuinit_p50_ms,cuinit_p95_ms,"
      "cuinit_p99_ms,cuinit_max_ms,valid,invalid_reasons,resolve_p50_ms,context_p50_ms,context_max_ms,"
      "collect_s,"
      "hold,added_p50_ms,added_p99_ms,context_added_p50_ms,context_added_p99_ms,"
      "control_p50_ms,control_max_ms,first_context_p50_ms,first_context_max_ms,neighbours,devices");
  EXPECT_EQ(
      first_line(pid_mapping_csv({})),
      "run_id,topology,arm,run,worker,cache,worker_pid,assigned_pid,class,peer_worker,peer_cache,alias,tier,"
      "cuinit_ms,source,assigned_nvml_pid,host_class,nvml_class,nvml_view,nvml_tier,added_ms,context_added_"
      "ms");
  EXPECT_EQ(external_wall_times_csv({}), "topology,arm,run,external_wall_s\n");
}

TEST(Tables, AControlsOwnTimeAndTheFirstContextStandInColumnsOfTheirOwn) {
  auto run = good_run("1x2", "native-context");
  run.record.exercise = evidence::Exercise::kProbe;
  run.record.workload = evidence::Workload::kContext;
  run.record.neighbours = 4;
  run.record.devices = {"1,0", "0"};
  for (auto& worker : run.workers) {
    worker.control_result = worker.context_result = 0;
    worker.control_ns = (worker.worker + 1) * 7 * test::kMs;
    worker.context_ns = 5 * test::kMs;
  }
  auto row = row_of(summary_csv({run}), 0);
  EXPECT_EQ(row["control_p50_ms"], "7.000");
  EXPECT_EQ(row["control_max_ms"], "14.000");
  EXPECT_EQ(row["context_max_ms"], "5.000");
  EXPECT_EQ(row["first_context_p50_ms"], "20.000") << "from the opening of the gate";
  EXPECT_EQ(row["first_context_max_ms"], "40.000");
  EXPECT_EQ(row["neighbours"], "4");
  EXPECT_EQ(row["devices"], "1,0/0");
  run.workers[1].context_result = 2;
  run.workers[1].control_result = 2;
  row = row_of(summary_csv({run}), 0);
  EXPECT_EQ(row["first_context_max_ms"], "20.000") << "what failed has no time";
  EXPECT_EQ(row["control_max_ms"], "7.000");
}

TEST(Tables, AShimRunInFull) {
  auto run = good_run("2x2", "legacy", 7, 3);
  assign(run, 0, pid_of(3));
  unassign(run, 1, DiscoveryState::kFailed);
  run.workers[2].discovery.added_ns = 123'456;
  EXPECT_EQ(summary_csv({run}).substr(first_line(summary_csv({})).size() + 1),
            "007-2x2-legacy-r3,2x2,2,2,4,legacy,3,sim,none,init,4,0,2,1,1,0,0,0.080,18.000,20.000,40.000,40."
            "000,40.000,"
            "true,,1.000,,,2.000,none,0.123,0.123,,,,,,,0,\n");
  EXPECT_EQ(
      pid_mapping_csv({run}).substr(first_line(pid_mapping_csv({})).size() + 1),
      "007-2x2-legacy-r3,2x2,legacy,3,0,0,1000,1003,peer,3,1,,snapshot-diff,10.000,rollcall,,peer,peer,"
      "global,,,\n"
      "007-2x2-legacy-r3,2x2,legacy,3,1,0,1001,,discovery_failed,,,,snapshot-diff,20.000,rollcall,,,,global,,"
      ",\n"
      "007-2x2-legacy-r3,2x2,legacy,3,2,1,1002,1002,self,,,,snapshot-diff,30.000,rollcall,,self,self,global,,"
      "0.123,\n"
      "007-2x2-legacy-r3,2x2,legacy,3,3,1,1003,1003,self,,,,snapshot-diff,40.000,rollcall,,self,self,global,,"
      ",\n");
  EXPECT_EQ(external_wall_times_csv({run}), "topology,arm,run,external_wall_s\n2x2,legacy,3,18.000\n");
}

TEST(Tables, ANativeRunHasNoClassesAndNoMapping) {
  const auto run = good_run("1x2", "native");
  const auto row = row_of(summary_csv({run}), 0);
  for (const char* column : {"self", "peer", "discovery_failed", "external", "unresolved", "added_p50_ms"}) {
    EXPECT_EQ(row.at(column), "") << column;
  }
  EXPECT_EQ(pid_mapping_csv({run}), pid_mapping_csv({}));
}

TEST(Tables, RunsStandInTheOrderOfTheirNumbers) {
  const std::vector<evidence::Run> runs = {good_run("1x1", "native", 10), good_run("1x1", "legacy", 2)};
  EXPECT_EQ(row_of(summary_csv(runs), 0).at("arm"), "legacy");
  EXPECT_EQ(row_of(external_wall_times_csv(runs), 1).at("arm"), "native");
}

TEST(Tables, AWorkerThatDiedHasNoTimesNotZeroOnes) {
  auto run = good_run("1x2", "legacy");
  run.workers[1].fate = Fate::kDied;
  run.workers[1].cuinit_ns.reset();
  run.workers[1].cuinit_result.reset();
  run.workers[1].finished_ns.reset();
  unassign(run, 1, DiscoveryState::kNoEvidence);
  const auto row = row_of(summary_csv({run}), 0);
  EXPECT_EQ(row.at("span_s"), "") << "the largest of those that finished would be too small";
  EXPECT_EQ(row.at("cuinit_ok"), "1");
  EXPECT_EQ(row.at("cuinit_failed"), "0") << "what never returned did not fail, and was not a success";
  EXPECT_EQ(row.at("cuinit_max_ms"), "10.000");
  EXPECT_EQ(row.at("unresolved"), "1");
  EXPECT_EQ(row.at("valid"), "false");
  EXPECT_EQ(row.at("invalid_reasons"), "worker_died");
  EXPECT_EQ(row_of(pid_mapping_csv({run}), 1).at("cuinit_ms"), "");
}

TEST(Tables, AWorkerThatDidNotLeaveWhenToldHasNotFinished) {
  auto run = good_run("1x2", "native");
  run.workers[0].fate = Fate::kDeadline;
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("span_s"), "") << "though it says when its workload was done";
}

TEST(Tables, ReasonsAreJoinedBySemicolons) {
  auto run = good_run("1x2", "native");
  run.workers[0].cuinit_result = 2;
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("invalid_reasons"), "cuinit_failed;out_of_memory");
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("cuinit_failed"), "1");
}

TEST(Tables, PercentilesOfCuInitAreOverSuccessfulCalls) {
  auto run = good_run("1x3", "native");
  run.workers[0].cuinit_ns = 1;
  run.workers[0].cuinit_result = 999;
  const auto row = row_of(summary_csv({run}), 0);
  EXPECT_EQ(row.at("cuinit_p50_ms"), "20.000");
  EXPECT_EQ(row.at("cuinit_max_ms"), "30.000");
}

TEST(Tables, ContextTimesBelongToTheContextWorkload) {
  auto run = good_run("1x2", "native");
  run.workers[0].context_ns = 3 * kMs;
  run.workers[0].context_result = 0;
  run.workers[1].context_ns = 5 * kMs;
  run.workers[1].context_result = 0;
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("context_p50_ms"), "");
  run.record.workload = Workload::kContext;
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("context_p50_ms"), "3.000");
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("context_max_ms"), "5.000");
}

TEST(Tables, AnUnknownPartMakesTheWallTimeUnknown) {
  auto run = good_run("1x1", "native");
  run.record.collect_ns.reset();
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("external_wall_s"), "");
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("collect_s"), "");
  EXPECT_EQ(external_wall_times_csv({run}), "topology,arm,run,external_wall_s\n1x1,native,1,\n");
}

TEST(Tables, TheWallTimeOfAnInvalidRunIsNotThereToBeAveraged) {
  auto run = good_run("1x1", "native");
  run.workers[0].fate = Fate::kDied;
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("external_wall_s"), "18.000");
  EXPECT_EQ(row_of(external_wall_times_csv({run}), 0).at("external_wall_s"), "");
}

TEST(Tables, AMissingRecordLeavesARowThatSaysUnresolved) {
  auto run = good_run("1x2", "legacy");
  run.workers.pop_back();
  const auto row = row_of(pid_mapping_csv({run}), 1);
  EXPECT_EQ(row.at("worker"), "1");
  EXPECT_EQ(row.at("class"), "unresolved");
  EXPECT_EQ(row.at("worker_pid"), "");
  EXPECT_EQ(row.at("source"), "");
}

TEST(Tables, NamesWithCommasAreQuoted) {
  auto run = good_run("1x1", "native");
  run.record.arm = "a,\"b\"";
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("arm"), "a,\"b\"");
}

TEST(Tables, AllDerivedFilesHaveTheirNames) {
  const auto files = derive_all({good_run("1x1", "legacy")});
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(files[0].name, "summary.csv");
  EXPECT_EQ(files[1].name, "pid-mapping-summary.csv");
  EXPECT_EQ(files[2].name, "external-wall-times.csv");
  EXPECT_EQ(files[3].name, "statistics.csv");
  EXPECT_EQ(files[4].name, "derived-by.txt");
  EXPECT_EQ(files[4].content, "rollcall " ROLLCALL_VERSION "\n") << "a verifier asks who derived them";
}

TEST(Times, AreRoundedHalfUpFromTheInteger) {
  EXPECT_EQ(milliseconds_text(0), "0.000");
  EXPECT_EQ(milliseconds_text(499), "0.000");
  EXPECT_EQ(milliseconds_text(500), "0.001");
  EXPECT_EQ(milliseconds_text(1'499), "0.001");
  EXPECT_EQ(milliseconds_text(1'234'567'500), "1234.568");
  EXPECT_EQ(seconds_text(18 * kSecond + 499'999), "18.000");
  EXPECT_EQ(seconds_text(18 * kSecond + 500'000), "18.001");
}

TEST(Times, AreExactAtTheEdgesOfTheInteger) {
  EXPECT_EQ(milliseconds_text(INT64_MAX), "9223372036854.776");
  EXPECT_EQ(milliseconds_text(INT64_MIN), "-9223372036854.776");
  EXPECT_EQ(milliseconds_text(-1'500), "-0.001");
  EXPECT_EQ(milliseconds_text(-1'501), "-0.002");
  EXPECT_EQ(milliseconds_text(-1), "0.000");
}

TEST(Times, AWallTimeThatCannotBeIsUnknown) {
  auto run = good_run("1x1", "native");
  run.record.last_gone_ns = INT64_MIN;
  run.record.collect_ns = 1;
  EXPECT_EQ(row_of(summary_csv({run}), 0).at("external_wall_s"), "");
}

}  // namespace
}  // namespace rollcall::analysis
