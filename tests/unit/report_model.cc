// What a report says, before it is laid out: its tables and the facts around them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis_runs.h"
#include "report/growth.h"
#include "report/model.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using evidence::DiscoveryState;
using test::assign;
using test::good_run;
using test::kMs;
using test::kSecond;
using test::pid_of;
using test::unassign;
using Row = std::vector<std::string>;

// External wall time of a run: what was collected afterwards is not part of it.
evidence::Run lasting(evidence::Run run, int64_t wall_ns) {
  run.record.last_gone_ns = wall_ns + *run.record.collect_ns;
  return run;
}

ReportSource source_of(std::vector<evidence::Run> runs) {
  ReportSource source;
  source.runs = std::move(runs);
  return source;
}

std::string value_of(const std::vector<Fact>& facts, const std::string& name) {
  for (const Fact& fact : facts) {
    if (fact.name == name) return fact.value;
  }
  return "(none)";
}

TEST(ReportModel, ClassesAreCountedOverValidRunsAndNativeHasNone) {
  auto isolated = good_run("2x2", "legacy", 3);
  assign(isolated, 0, pid_of(1));
  assign(isolated, 1, 99'999);
  unassign(isolated, 2, DiscoveryState::kFailed);
  auto broken = good_run("2x2", "legacy", 4, 2);
  broken.workers[0].fate = evidence::Fate::kDied;
  const auto model = build_model(source_of({good_run("2x2", "native", 1), isolated, broken}));
  ASSERT_EQ(model.classes.rows.size(), 2U);
  EXPECT_EQ(model.classes.rows[0], (Row{"2x2", "native", "1", "4", "no discovery takes place"}));
  EXPECT_EQ(model.classes.rows[1], (Row{"2x2", "legacy", "1", "4", "1", "1", "1", "1", "0"}));
  ASSERT_EQ(model.invalid.rows.size(), 1U);
  EXPECT_EQ(model.invalid.rows[0], (Row{"004-2x2-legacy-r2", "worker_died"}));
}

TEST(ReportModel, OfImportedRunsNothingIsToldThatOnlyALauncherKnows) {
  auto run = good_run("1x2", "hami", 1);
  EXPECT_NE(value_of(build_model(source_of({run})).method, "gate"), "(none)");
  run.record.imported_from = "hami-logs";
  const auto model = build_model(source_of({run}));
  EXPECT_EQ(value_of(model.method, "gate"), "(none)");
  EXPECT_EQ(value_of(model.method, "wall time"), "(none)");
  EXPECT_EQ(value_of(model.method, "truth"), "the launcher's list of PIDs");
  EXPECT_NE(value_of(model.method, "hold").find("(assumed)"), std::string::npos);
}

TEST(ReportModel, WallTimesAreMeanAndSampleSdWithOneNumberOfDecimals) {
  const auto model = build_model(source_of({lasting(good_run("1x2", "native", 1), 15'400 * kMs),
                                            lasting(good_run("1x2", "native", 2, 2), 16'480 * kMs),
                                            lasting(good_run("1x2", "native", 3, 3), 17'560 * kMs),
                                            lasting(good_run("1x2", "legacy", 4), 30 * kSecond)}));
  EXPECT_EQ(model.walls.rows.at(0).at(3), "16.48 ± 1.08 s");
  EXPECT_EQ(model.walls.rows.at(0).at(4), "16.48 s");
  EXPECT_TRUE(model.walls.rows.at(0).at(5).ends_with(" s *")) << "three runs are few";
  EXPECT_EQ(model.walls.rows.at(0).at(6), "") << "native is not compared with itself";
  EXPECT_EQ(model.walls.rows.at(1).at(3), "30.00 s") << "no SD of one run";
  EXPECT_EQ(model.walls.rows.at(1).at(5), "") << "no interval of one run";
  EXPECT_TRUE(model.walls.rows.at(1).at(6).starts_with("1.82×"));
}

TEST(ReportModel, AConditionWithoutAValidRunKeepsItsRow) {
  auto broken = good_run("1x2", "mine");
  broken.workers[0].fate = evidence::Fate::kDied;
  const auto model = build_model(source_of({broken}));
  EXPECT_EQ(model.classes.rows.at(0).back(), "no valid run");
  EXPECT_EQ(model.walls.rows.at(0).back(), "no valid run");
}

TEST(ReportModel, DocumentsThatAreAbsentOrNonsenseAreNotMentioned) {
  ReportSource source = source_of({good_run("1x2", "legacy")});
  EXPECT_EQ(value_of(build_model(source).method, "seed of the order"), "(none)");
  source.plan_json = "[1, 2";
  source.environment_json = R"({"machine": 7, "programs_sha256": ["x"], "limits": null})";
  EXPECT_EQ(value_of(build_model(source).method, "seed of the order"), "(none)");
  EXPECT_EQ(value_of(build_model(source).environment, "kernel"), "(none)");
  EXPECT_EQ(value_of(build_model(source_of({})).method, "runs"), "0, of which 0 valid");
}

TEST(ReportModel, WhatIsNullIsNotKnown) {
  ReportSource source = source_of({good_run("1x2", "legacy")});
  source.plan_json = R"({"seed": 7, "worker_timeout_s": 108.0, "shims": [{"name": "legacy", "preload": "/x",
      "preload_sha256": "abc"}, 3]})";
  source.environment_json = R"({"rollcall_version": "0.1.0", "machine": {"kernel": "6.1", "cpu": null,
      "memory_kib": 2097152}, "programs_sha256": {"rollcall": "f00"}})";
  source.import_json = R"({"format": 1, "files": 3, "deep": {"x": 1}})";
  const auto model = build_model(source);
  EXPECT_EQ(value_of(model.method, "seed of the order"), "7");
  EXPECT_EQ(value_of(model.method, "deadline of a worker"), "108 s");
  EXPECT_EQ(value_of(model.method, "arm legacy"),
            "with a library; its number is judged as NVML's, SHA-256 abc");
  EXPECT_EQ(value_of(model.environment, "kernel"), "6.1");
  EXPECT_EQ(value_of(model.environment, "CPU"), "not known");
  EXPECT_EQ(value_of(model.environment, "memory"), "2.0 GiB");
  EXPECT_EQ(value_of(model.environment, "import: files"), "3");
  EXPECT_EQ(value_of(model.programs, "rollcall"), "f00");
}

TEST(ReportModel, ChartsHoldEveryWorkerOfEveryRun) {
  auto run = good_run("2x2", "legacy", 2);
  assign(run, 0, pid_of(3));
  assign(run, 1, 77);
  unassign(run, 2, DiscoveryState::kFailed);
  run.workers[3].finished_ns.reset();
  const ReportSource source = source_of({good_run("2x2", "native", 1), run});
  const auto data = nlohmann::json::parse(chart_data(build_model(source), source));
  const auto& legacy = data["runs"][1];
  EXPECT_EQ(legacy["cls"], "1230");
  EXPECT_EQ(legacy["peer"], (std::vector<int>{3, -1, -1, -1}));
  EXPECT_EQ(legacy["got"], nlohmann::json({pid_of(3), 77, nullptr, pid_of(3)}));
  EXPECT_EQ(legacy["to"], nlohmann::json({20'000, 40'000, 60'000, nullptr}))
      << "microseconds; null is not known";
  EXPECT_EQ(legacy["counts"], (std::vector<int>{1, 1, 1, 1, 0}));
  EXPECT_EQ(data["runs"][0]["cls"], "") << "native has no classes";
  EXPECT_EQ(data["conditions"][data["runs"][0]["c"].get<size_t>()]["arm"], "native");
}

TEST(ReportModel, InvalidRunsAreDrawnAsSuchAndInNoDistribution) {
  auto broken = good_run("1x2", "native", 2, 2);
  broken.workers[0].fate = evidence::Fate::kDied;
  const ReportSource source = source_of({good_run("1x2", "native", 1), broken});
  const auto data = nlohmann::json::parse(chart_data(build_model(source), source));
  EXPECT_EQ(data["runs"][1]["valid"], false);
  EXPECT_EQ(data["runs"][1]["why"], "worker_died");
  ASSERT_EQ(data["ecdf"].size(), 1U);
  EXPECT_EQ(data["ecdf"][0]["n"], 2);
  EXPECT_EQ(data["ecdf"][0]["v"], (std::vector<int>{10'000, 20'000}));
}

TEST(ReportModel, ADistributionOfManyIsThinnedAtItsRanks) {
  const ReportSource source = source_of({good_run("1x1000", "native")});
  const auto data = nlohmann::json::parse(chart_data(build_model(source), source));
  const auto values = data["ecdf"][0]["v"].get<std::vector<int64_t>>();
  ASSERT_EQ(values.size(), 400U);
  EXPECT_EQ(values.front(), 3 * 10'000) << "rank ceil(1000 / 400)";
  EXPECT_EQ(values.back(), 1000 * 10'000) << "the largest is among them";
}

TEST(ReportModel, APageHoldsOnlySoManyWorkers) {
  std::vector<evidence::Run> runs;
  for (int i = 1; i <= 13; ++i) runs.push_back(good_run("1x4000", "native", i, i));
  const ReportSource source = source_of(std::move(runs));
  const auto data = nlohmann::json::parse(chart_data(build_model(source), source));
  EXPECT_TRUE(data["runs"][11].contains("pid"));
  EXPECT_FALSE(data["runs"][12].contains("pid"));
  EXPECT_EQ(data["workersLeftOut"], 4000);
  EXPECT_EQ(data["ecdf"][0]["n"], 52'000) << "but they are counted";
}

TEST(ReportModel, GrowthIsOfConditionsThatDifferInSizeAlone) {
  const auto summary = analysis::summarise({good_run("1x2", "legacy", 1), good_run("1x8", "legacy", 2),
                                            good_run("2x2", "legacy", 3), good_run("4x4", "legacy", 4),
                                            good_run("4x2", "legacy", 5), good_run("1x4", "native", 6)});
  const auto growth = growth_of(summary);
  ASSERT_EQ(growth.size(), 2U);
  EXPECT_EQ(growth[0].where, "one shared cache");
  EXPECT_EQ(growth[0].conditions.size(), 2U);
  EXPECT_EQ(growth[1].where, "caches of 2");
  EXPECT_EQ(growth[1].conditions.front()->topology.text(), "2x2");
  EXPECT_EQ(growth[1].conditions.back()->topology.text(), "4x2");
}

TEST(Wording, NumbersKeepThreeDigitsThatCount) {
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(0.01234), "0.0123");
  EXPECT_EQ(three_digits(1.234), "1.23");
  EXPECT_EQ(three_digits(1234567), "1234567");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(1), "100 %");
  EXPECT_EQ(percent_text(0.004), "0.400 %");
  EXPECT_EQ(percent_text(0.5432), "54.3 %");
  EXPECT_EQ(percent_text(0.999'999), "99.99 %") << "not all";
}

}  // namespace
}  // namespace rollcall::report
