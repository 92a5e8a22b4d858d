// Means, ratios and what is said of them, checked against a published table: three runs
// a condition of 250 workers on one shared cache and on 50 isolated ones.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/summary.h"
#include "analysis_runs.h"
#include "report/terminal.h"

namespace rollcall::report {
namespace {

using analysis::summarise;
using test::assign;
using test::good_run;
using test::kMs;
using test::pid_of;
using Runs = std::vector<evidence::Run>;

void add(Runs& runs, const std::string& topology, const std::string& arm, std::vector<int64_t> walls_ms) {
  int repetition = 0;
  for (const int64_t wall_ms : walls_ms) {
    auto run = good_run(topology, arm, static_cast<int>(runs.size()) + 1, ++repetition);
    run.record.last_gone_ns = wall_ms * kMs + *run.record.collect_ns;
    runs.push_back(std::move(run));
  }
}

// m - s, m and m + s have exactly the mean m and the sample SD s.
std::vector<int64_t> three(int64_t mean_ms, int64_t sd_ms) {
  return {mean_ms - sd_ms, mean_ms, mean_ms + sd_ms};
}

Runs published() {
  Runs runs;
  add(runs, "1x250", "native", three(16'480, 1'110));
  add(runs, "50x5", "native", three(17'910, 130));
  add(runs, "1x250", "hami", three(98'800, 1'240));
  add(runs, "50x5", "hami", three(89'910, 2'360));
  return runs;
}

TEST(PublishedTable, IsPrintedWithTheSameFigures) {
  const std::string text = terminal_report(summarise(published()));
  EXPECT_NE(text.find("  1x250     native  3*  16.48 ± 1.11 s\n"
                      "  1x250     hami    3*  98.80 ± 1.24 s  6.00× (5.11–7.05)\n"
                      "  50x5      native  3*  17.91 ± 0.13 s\n"
                      "  50x5      hami    3*  89.91 ± 2.36 s  5.02× (4.73–5.33)\n"),
            std::string::npos)
      << text;
}

TEST(PublishedTable, SaysWhatIsolationCost) {
  const auto sentences = findings(summarise(published()));
  EXPECT_EQ(
      sentences.at(1),
      "Isolated caches (50x5): every hami worker found its own PID (750 of 750); its wall time is 9.0 % "
      "less than on one cache (98.80 → 89.91 s).");
}

TEST(PublishedTable, IsTheSameForPrograms) {
  const auto json = nlohmann::json::parse(json_report(summarise(published())));
  const auto& hami = json["conditions"][3];
  EXPECT_EQ(hami["arm"], "hami");
  EXPECT_NEAR(hami["ratio_to_native"].get<double>(), 5.02, 0.005);
  EXPECT_NEAR(hami["ratio_ci95"][0].get<double>(), 4.7277, 0.0001);
  EXPECT_NEAR(hami["external_wall_s"]["sd"].get<double>(), 2.36, 1e-9);
  EXPECT_EQ(hami["external_wall_s"]["few"], true);
  EXPECT_EQ(hami["external_wall_s"]["ci95_method"], "log-t");
  const auto& rows = json["statistics"];
  const auto wall = std::find_if(rows.begin(), rows.end(), [](const auto& row) {
    return row["topology"] == "50x5" && row["arm"] == "hami" && row["measure"] == "external_wall_s";
  });
  ASSERT_NE(wall, rows.end());
  EXPECT_EQ((*wall)["ratio_ci95"], hami["ratio_ci95"]) << "one source";
  EXPECT_EQ((*wall)["values"].size(), 3U);
  EXPECT_EQ((*wall)["values"][0]["run_id"], "010-50x5-hami-r1");
}

TEST(Isolation, IsNotSaidToCostWhereRunsCannotTell) {
  Runs runs;
  add(runs, "1x4", "hami", {10'000, 11'000, 12'000});
  add(runs, "2x2", "hami", {10'500, 11'500, 12'500});
  EXPECT_NE(findings(summarise(runs))
                .at(1)
                .find("whether its wall time differs from that on one cache cannot be "
                      "told (11.00 → 11.50 s)"),
            std::string::npos);
}

TEST(Isolation, MoreIsSaidAsMore) {
  Runs runs;
  add(runs, "1x4", "hami", {10'000, 10'010, 10'020});
  add(runs, "2x2", "hami", {15'000, 15'010, 15'020});
  EXPECT_NE(findings(summarise(runs)).at(1).find("50.0 % more than on one cache"), std::string::npos)
      << findings(summarise(runs)).at(1);
}

TEST(Isolation, NothingIsSaidOfOneRunOrOfAnotherNumberOfWorkers) {
  Runs single;
  add(single, "1x4", "hami", {10'000});
  add(single, "2x2", "hami", {20'000});
  EXPECT_EQ(findings(summarise(single)).at(1).find("wall time"), std::string::npos);
  Runs sizes;
  add(sizes, "1x2", "hami", {10'000, 10'100});
  add(sizes, "2x2", "hami", {20'000, 20'100});
  EXPECT_EQ(findings(summarise(sizes)).at(1).find("wall time"), std::string::npos);
}

TEST(Outliers, AreNamedInTheReportAndCounted) {
  Runs runs;
  add(runs, "1x4", "native", {10'000, 10'100, 10'200, 10'300, 50'000});
  const std::string text = terminal_report(summarise(runs));
  EXPECT_NE(text.find("Outliers, named and counted: 005-1x4-native-r5 (external_wall_s)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  5  18.12 ± "), std::string::npos) << "its time is in the mean\n" << text;
  EXPECT_EQ(text.find('*'), std::string::npos) << "five runs are not few\n" << text;
}

}  // namespace
}  // namespace rollcall::report
