// The comparison as one reads it: first what became slower or wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis_runs.h"
#include "report/comparison.h"
#include "report/text_table.h"

namespace rollcall::report {
namespace {

using analysis::ComparedEvidence;
using analysis::Comparison;
using test::assign;
using test::good_run;
using test::kMs;
using test::pid_of;

ComparedEvidence evidence_of(const std::string& name, const std::vector<int64_t>& walls_ms, int peers) {
  ComparedEvidence result;
  result.name = name;
  for (const int64_t wall_ms : walls_ms) {
    const int number = static_cast<int>(result.runs.size()) + 1;
    auto run = good_run("2x2", "mine", number, number);
    run.record.last_gone_ns = wall_ms * kMs + *run.record.collect_ns;
    // So that times of other measures scatter a little, too.
    for (auto& worker : run.workers) {
      *worker.cuinit_ns += number * 1000;
      *worker.finished_ns += number * 1000;
    }
    for (int i = 0; i < peers; ++i) assign(run, i, pid_of(i + 1));
    result.runs.push_back(std::move(run));
  }
  return result;
}

const std::vector<int64_t> kBefore = {10'000, 10'010, 10'020, 10'030, 10'040};
const std::vector<int64_t> kAfter = {12'000, 12'010, 12'020, 12'030, 12'040};

TEST(ComparisonText, SaysFirstWhatBecameSlowerAndWrong) {
  const Comparison comparison =
      analysis::compare(evidence_of("before", kBefore, 0), evidence_of("after", kAfter, 1), {});
  EXPECT_EQ(comparison_text(comparison),
            R"(A, before: before
B, after: after
Recorded by neither, and so not known to be the same: gpus, cpu, cpus, kernel.

A wrong identity appears in B and not in A: 2x2 mine: 5 of 20 workers hold a PID that is not theirs,
  before none of 20.
SLOWER: 2x2 mine: external_wall_s 1.200×.
Of 5 times 1 slower, 0 faster, 4 the same within 2 %, 0 unclear.

2x2 mine: runs 5 in A, 5 in B
          time             A mean  B mean     B/A  95 % interval
  SAME    span_s           0.0800  0.0800  1.000×  1.000 – 1.000
  SLOWER  external_wall_s   10.02   12.02  1.200×  1.197 – 1.202
  SAME    cuinit_p50_ms     20.00   20.00  1.000×  1.000 – 1.000
  SAME    cuinit_p95_ms     40.00   40.00  1.000×  1.000 – 1.000
  SAME    cuinit_p99_ms     40.00   40.00  1.000×  1.000 – 1.000
         class                    A         B  B−A, points  95 % interval
  FEWER  self              20 of 20  15 of 20        -25.0
  MORE   peer               0 of 20   5 of 20        +25.0
  SAME   discovery_failed   0 of 20   0 of 20         +0.0
  SAME   external           0 of 20   0 of 20         +0.0
  SAME   unresolved         0 of 20   0 of 20         +0.0

B/A is the ratio of geometric means, its interval Welch's on the logarithms. Each interval stands
  for itself: where nothing changed, one in twenty still shows a change.
)");
}

TEST(ComparisonText, FewRunsAreUnclearAndSayHowManyWouldDo) {
  const std::string text = comparison_text(
      analysis::compare(evidence_of("a", {10'000, 10'010}, 1), evidence_of("b", {20'000, 20'010}, 0), {}));
  EXPECT_NE(text.find("No wrong identity is seen in B any more: 2x2 mine: none of 8 workers, before 2 of 8."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Of 5 times 0 slower, 0 faster, 0 the same within 2 %, 5 unclear."), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("Unclear, because fewer than 5 runs on a side (how many a side would tell): span_s (5),\n"
                "    external_wall_s (5), "),
      std::string::npos)
      << text;
}

TEST(ComparisonText, WhereNothingCouldBeComparedItSaysSo) {
  auto b = evidence_of("b", {20'000}, 0);
  b.runs[0].workers[0].fate = evidence::Fate::kDied;
  const std::string text = comparison_text(analysis::compare(evidence_of("a", {10'000}, 0), b, {}));
  EXPECT_NE(text.find("Nothing could be compared.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2x2 mine: runs 1 in A, 0 valid and 1 invalid in B\n"
                      "  no valid run in B, so nothing is compared\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("SAME"), std::string::npos);
}

TEST(ComparisonText, NamesFromOutsideCannotCommandTheTerminalOrWidenIt) {
  auto a = evidence_of(std::string(300, 'n') + "\x1b", {10'000, 1'000'010'000}, 0);
  for (auto& run : a.runs) run.record.arm = "\x1b[31m" + std::string(300, 'x');
  auto b = a;
  for (auto& run : b.runs) run.record.device_name = "\x1b" + std::string(300, 'y');
  for (auto& run : b.runs) run.record.node = evidence::NodeKind::kReal;
  b.runs.push_back(good_run("1x1", "only-here", 9));
  const std::string text =
      comparison_text(analysis::compare(a, b, {"node", "gpu", "driver", "profile", "time_scale", "gpus"}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("Only in B, not compared: 1x1 only-here."), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(width, static_cast<std::ptrdiff_t>(kMaxColumns)) << line;
  }
}

TEST(ComparisonJson, SaysTheSame) {
  const auto json = nlohmann::json::parse(comparison_json(
      analysis::compare(evidence_of("before", kBefore, 0), evidence_of("after", kAfter, 1), {})));
  EXPECT_EQ(json["complete"], true);
  const auto& condition = json["conditions"][0];
  EXPECT_EQ(condition["topology"], "2x2");
  EXPECT_EQ(condition["wrong_identities"]["b"], 5);
  const auto& wall = condition["measures"][1];
  EXPECT_EQ(wall["measure"], "external_wall_s");
  EXPECT_EQ(wall["verdict"], "SLOWER");
  EXPECT_EQ(wall["reason"], nullptr);
  EXPECT_EQ(wall["runs_needed"], nullptr);
  EXPECT_NEAR(wall["ratio"].get<double>(), 1.2, 0.001);
  EXPECT_EQ(wall["a"]["n"], 5);
  EXPECT_EQ(condition["classes"][1]["verdict"], "MORE");
  EXPECT_EQ(condition["classes"][1]["ci95"], nullptr);
  EXPECT_EQ(json["not_known"].size(), 4U);
}

}  // namespace
}  // namespace rollcall::report
