// The two layouts: hostile names stay text, the same evidence gives the same bytes, and
// nothing in the page leads out of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "analysis_runs.h"
#include "report/document.h"
#include "report/embedded.h"

namespace rollcall::report {
namespace {

using test::good_run;

constexpr const char* kHostile = "</script><script>alert(1)</script>\"'&`*|_x_<!--]]>";

ReportSource hostile_source() {
  ReportSource source;
  source.runs = {good_run("2x2", std::string("mine") + kHostile, 1), good_run("2x2", "native", 2)};
  for (evidence::Run& run : source.runs) {
    run.record.node = evidence::NodeKind::kReal;
    run.record.time_scale.reset();
    run.record.profile.clear();
    run.record.device_name = kHostile;
    run.record.driver_version = "<img src=http://example.com/x>";
    run.record.events = {{kHostile, kHostile}};
  }
  source.environment_json = nlohmann::json{
      {"machine", {{"cpu", kHostile}, {"kernel", "\x1b[31m\n# x"}}},
      {"programs_sha256",
       {{kHostile, kHostile}}}}.dump();
  source.import_json = nlohmann::json{{kHostile, kHostile}}.dump();
  return source;
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What is of the experiment: the page without the scripts and the style that are always the same.
std::string of_the_experiment(std::string html) {
  for (const std::string_view part : {vega_script(), page_script(), page_style()}) {
    const size_t at = html.find(part);
    EXPECT_NE(at, std::string::npos);
    if (at != std::string::npos) html.erase(at, part.size());
  }
  return html;
}

TEST(HtmlReport, HostileNamesStayText) {
  const std::string html = of_the_experiment(html_report(hostile_source()).value());
  EXPECT_EQ(count(html, "<script"), 3U) << "the data, Vega and our own";
  EXPECT_EQ(count(html, "</script"), 3U);
  EXPECT_EQ(count(html, "alert(1)</"), 0U);
  EXPECT_EQ(count(html, "<img"), 0U);
  EXPECT_EQ(count(html, "<!--"), 0U);
  EXPECT_EQ(count(html, "\x1b"), 0U);
  EXPECT_GT(count(html, "&lt;/script&gt;&lt;script&gt;alert(1)"), 0U) << "they are shown";
}

TEST(HtmlReport, TheDataIsJsonThatSaysTheNameAsItIs) {
  const std::string html = html_report(hostile_source()).value();
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = html.find(open) + open.size();
  const auto data = nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  bool found = false;
  for (const auto& condition : data["conditions"]) {
    found =
        found || condition["arm"].get<std::string>().find("</script><script>alert(1)") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

TEST(HtmlReport, NothingLeadsOutOfThePage) {
  const std::string html = of_the_experiment(html_report(hostile_source()).value());
  static const std::regex kReference("(src|href|action|srcset|poster|data)=\"([^\"]*)\"");
  for (std::sregex_iterator at(html.begin(), html.end(), kReference), end; at != end; ++at) {
    const std::string target = (*at)[2];
    EXPECT_TRUE(target.starts_with("#") || target == "data:,") << target;
  }
  EXPECT_EQ(count(std::string(page_style()), "url("), 0U);
  EXPECT_EQ(count(std::string(vega_script()), "sourceMappingURL"), 0U);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(count(html, "unsafe-"), 0U);
}

TEST(HtmlReport, TheSameEvidenceGivesTheSameBytesAndNamesItsMaker) {
  const std::string html = html_report(hostile_source()).value();
  EXPECT_EQ(html, html_report(hostile_source()).value());
  EXPECT_NE(html.find("<meta name=\"generator\" content=\"" + report_generator() + "\">"), std::string::npos);
  EXPECT_TRUE(std::regex_match(report_generator(), std::regex("rollcall [0-9.]+, vega [0-9a-f]{12}")));
}

TEST(HtmlReport, TwelveRunsOf250WorkersAreBelowThreeMegabytes) {
  ReportSource source;
  for (int i = 0; i < 12; ++i) {
    source.runs.push_back(
        good_run(i % 2 == 0 ? "1x250" : "50x5", i % 4 < 2 ? "native" : "legacy", i + 1, i / 4 + 1));
  }
  EXPECT_LT(html_report(source).value().size(), 3'000'000U);
}

TEST(HtmlReport, AnEmptyExperimentIsAPage) {
  EXPECT_NE(html_report({}).value().find("No run is recorded"), std::string::npos);
}

TEST(MarkdownReport, HostileNamesStartNoMarkup) {
  const std::string text = markdown_report(hostile_source());
  EXPECT_EQ(count(text, "<script"), count(text, "\\<script")) << "each is escaped";
  EXPECT_GT(count(text, "\\</script\\>\\<script\\>alert(1)"), 0U);
  EXPECT_EQ(count(text, "\n# x"), 0U);
  // A bar in a name makes no column: each row of the table of classes has as many as its head.
  static const std::regex kBar(R"((^|[^\\])\|)");
  const size_t head = text.find("| topology | arm | valid runs |");
  const size_t row = text.find("\n| 2x2 | mine", head) + 1;
  ASSERT_NE(row, std::string::npos + 1);
  const auto bars = [&](size_t at) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    return std::distance(std::sregex_iterator(line.begin(), line.end(), kBar), std::sregex_iterator());
  };
  EXPECT_EQ(bars(row), bars(head));
}

TEST(MarkdownReport, IsThisForOneSmallExperiment) {
  ReportSource source;
  source.runs = {good_run("1x2", "native", 1), good_run("1x2", "legacy", 2)};
  const std::string text = markdown_report(source);
  const std::string expected = R"(# Who holds whose PID: 1x2

When many processes start on one GPU together, does each of them discover its own PID as the driver lists it, and what does the discovery cost? A library that is wrong about it enforces one process's limits by another's usage, and nothing fails.

A topology KxW is K cache files of W workers each: workers of one cache file share its lock, workers of different ones do not.

Measured on the simulated node, profile study, time scale 0.05.

## Key result

* One shared cache (1x2): every legacy worker found its own PID (2 of 2).
* Control: absent — no valid isolated-cache run of the arm legacy, so this experiment cannot tell whether it would see the fault; absence of peers proves nothing here.

| topology | arm | valid runs | workers | self | peer | discovery_failed | external | unresolved |
|---|---|---:|---:|---:|---:|---:|---:|---:|
| 1x2 | native | 1 | 2 | no discovery takes place | | | | |
| 1x2 | legacy | 1 | 2 | 2 | 0 | 0 | 0 | 0 |

## Performance

External wall time, mean ± sample SD over n valid runs. \* fewer than 5 runs.

| topology | arm | n | external wall | median | 95 % interval | ratio to native (95 %) |
|---|---|---:|---:|---:|---:|---:|
| 1x2 | native | 1 | 18.00 s | 18.00 s |  |  |
| 1x2 | legacy | 1 | 18.00 s | 18.00 s |  | 1.00× |

)";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_NE(text.find("    cd EVIDENCE && sha256sum -c SHA256SUMS\n"), std::string::npos);
  EXPECT_NE(text.find("    rollcall verify EVIDENCE\n"), std::string::npos);
}

TEST(MarkdownReport, UnfinishedSaysSoAndPromisesNoSeal) {
  ReportSource source;
  source.runs = {good_run("1x2", "legacy")};
  source.finished = false;
  const std::string text = markdown_report(source);
  EXPECT_NE(text.find("**Unfinished experiment.**"), std::string::npos);
  EXPECT_EQ(text.find("sha256sum"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::report
