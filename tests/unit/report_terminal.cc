// The report as one reads it, golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "analysis/summary.h"
#include "analysis_runs.h"
#include "report/terminal.h"
#include "report/text_table.h"

namespace rollcall::report {
namespace {

using analysis::summarise;
using test::assign;
using test::good_run;
using test::kSecond;
using test::pid_of;

evidence::Run timed(evidence::Run run, int64_t wall_ms) {
  run.record.last_gone_ns = wall_ms * test::kMs + *run.record.collect_ns;
  return run;
}

// A small study: two topologies, two arms, two runs each.
std::vector<evidence::Run> small_study() {
  std::vector<evidence::Run> runs;
  for (int r = 1; r <= 2; ++r) {
    const int first = (r - 1) * 4;
    runs.push_back(timed(good_run("1x4", "native", first + 1, r), 16'000 + r * 500));
    runs.push_back(timed(good_run("1x4", "legacy", first + 2, r), 98'000 + r * 1000));
    runs.push_back(timed(good_run("2x2", "native", first + 3, r), 17'900));
    auto isolated = timed(good_run("2x2", "legacy", first + 4, r), 89'000 + r * 10);
    for (int i = 0; i < 3; ++i) assign(isolated, i, pid_of(i + 1));
    runs.push_back(isolated);
  }
  return runs;
}

TEST(TerminalReport, TheSmallStudy) {
  EXPECT_EQ(terminal_report(summarise(small_study())),
            R"(Who holds whose PID (2 runs each)
  topology  arm     workers  self  peer  discovery_failed  external  unresolved
  1x4       native        8  no discovery takes place
  1x4       legacy        8     8     0                 0         0           0
  2x2       native        8  no discovery takes place
  2x2       legacy        8     2     6                 0         0           0

Wall time, mean ± sample SD over n runs; ratio of means with its 95 % interval; * fewer than 5 runs
  topology  arm      n   external wall  ratio to native
  1x4       native  2*  16.75 ± 0.35 s
  1x4       legacy  2*  99.50 ± 0.71 s  5.94× (5.21–6.77)
  2x2       native  2*  17.90 ± 0.00 s
  2x2       legacy  2*  89.02 ± 0.01 s  4.97× (4.97–4.98)
Measured on the simulated node, profile study, time scale 0.05.

One shared cache (1x4): every legacy worker found its own PID (8 of 8).
Isolated caches (2x2): 6 of 8 legacy workers silently hold another worker's PID; no cuInit call
  failed; its wall time is 10.5 % less than on one cache (99.50 → 89.02 s).
Control: visible — isolated caches with legacy show peers, so this experiment can see the fault.
)");
}

TEST(TerminalReport, InvalidRunsAreNamedLastAndCountNowhere) {
  auto runs = small_study();
  runs[1].workers[0].fate = evidence::Fate::kDied;
  runs[1].record.events.push_back({"stale_cache", ""});
  const std::string text = terminal_report(summarise(runs));
  EXPECT_NE(text.find("  topology  arm     runs  workers"), std::string::npos)
      << "the conditions differ now\n"
      << text;
  EXPECT_NE(text.find("  1x4       legacy     1        4     4"), std::string::npos) << text;
  EXPECT_NE(text.find("  1x4       legacy  1*        100.00 s  5.97×\n"), std::string::npos)
      << "no SD and no interval of one run\n"
      << text;
  EXPECT_TRUE(
      text.ends_with("\n1 of 8 runs not valid, and not counted above\n"
                     "002-1x4-legacy-r1: stale_cache, worker_died\n"))
      << text;
}

TEST(TerminalReport, AnExperimentWithoutAValidRunSaysSoAndNothingElse) {
  auto broken = good_run("2x2", "legacy");
  broken.workers[0].fate = evidence::Fate::kDeadline;
  const std::string text = terminal_report(summarise({broken}));
  EXPECT_NE(text.find("  2x2       legacy     0  no valid run\n"), std::string::npos) << text;
  EXPECT_NE(text.find("No run is valid"), std::string::npos);
  EXPECT_EQ(text.find("Control"), std::string::npos);
  EXPECT_EQ(text.find("found"), std::string::npos);
}

TEST(TerminalReport, ShortTimesGetAThirdDecimal) {
  const std::string text = terminal_report(summarise({timed(good_run("1x1", "native"), 1'234)}));
  EXPECT_NE(text.find("1.234 s"), std::string::npos) << text;
}

TEST(TerminalReport, TheWorkloadIsSaidWhereItIsNotThePlainOne) {
  auto run = good_run("1x1", "legacy");
  run.record.hold = evidence::Hold::kAll;
  EXPECT_TRUE(terminal_report(summarise({run}))
                  .starts_with("Who holds whose PID (1 run each; workload init, hold all)"));
}

TEST(TerminalReport, NamesFromOutsideCannotCommandTheTerminalOrWidenTheTable) {
  auto run = good_run("4096x1", "\x1b[31m" + std::string(300, 'x'));
  const std::string text = terminal_report(summarise({run}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(width, static_cast<std::ptrdiff_t>(kMaxColumns)) << line;
  }
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("ééé", 3), "ééé");
  EXPECT_EQ(printable("éééé", 3), "éé…");
  EXPECT_EQ(printable("a\tb\nc", 10), "a?b?c");
}

TEST(JsonReport, SaysTheSameAsTheTables) {
  auto runs = small_study();
  runs[0].workers[0].fate = evidence::Fate::kDied;
  const std::string text = json_report(summarise(runs));
  EXPECT_TRUE(text.ends_with("}\n"));
  for (const char* part : {"\"control\": \"visible\"", "\"valid_runs\": 7", "\"peer\": 6",
                           "\"classes\": null", "\"time_scale\": 0.05", "\"run_id\": \"001-1x4-native-r1\"",
                           "\"worker_died\"", "\"sd\": null", "\"ratio_to_native\": null"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(JsonReport, NeverFailsOnBytesFromOutside) {
  EXPECT_NE(json_report(summarise({good_run("1x1", "\xFF")})).find("\uFFFD"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::report
