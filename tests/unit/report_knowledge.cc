// What is said of an arm that claims two numbers: each number by itself, and never a word
// of success for one that is not known.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis_runs.h"
#include "report/document.h"
#include "report/knowledge.h"
#include "report/model.h"
#include "report/terminal.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::NumberKnowledge;
using analysis::summarise;
using test::forget_both;
using test::forget_host;
using test::forget_nvml;
using test::good_run;
using test::good_tiered_run;
using test::kMs;
using test::pid_of;
using Row = std::vector<std::string>;

// Alone at cuInit: the host PID by the kernel, the NVML PID not yet.
evidence::Run init_without_broker(const std::string& topology = "1x4", int number = 1) {
  auto run = good_tiered_run(topology, number);
  for (int i = 0; i < run.record.topology.workers(); ++i) {
    forget_nvml(run, i, "no_context");
    run.workers[static_cast<size_t>(i)].discovery.tier = "initial-namespace";
  }
  return run;
}

// In a namespace of its own, with no broker, at cuInit: nothing can be known.
evidence::Run nothing_known() {
  auto run = good_tiered_run("2x2");
  test::isolate(run, evidence::NvmlView::kTranslated);
  for (int i = 0; i < 4; ++i) forget_both(run, i, "no_broker", "no_context");
  return run;
}

std::string first_sentence(const evidence::Run& run) {
  return findings(summarise({run})).at(0);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ReportSource source_of(std::vector<evidence::Run> runs) {
  ReportSource source;
  source.runs = std::move(runs);
  return source;
}

TEST(KnownText, IsHowManyAreRightByWhatProvedItAndWhyOthersDoNotKnow) {
  NumberKnowledge number;
  number.right = 250;
  number.tiers = {{"initial-namespace", 250}};
  EXPECT_EQ(known_text(number), "250 initial-namespace");
  number = {};
  number.missing = 250;
  number.reasons = {{"no_context", 250}};
  EXPECT_EQ(known_text(number), "0 (250 no_context)");
  number.right = 245;
  number.missing = 3;
  number.wrong = 1;
  number.unresolved = 1;
  number.tiers = {{"broker", 5}, {"challenge", 240}};
  number.reasons = {{"broker_busy", 1}, {"no_candidate", 2}, {"no_slot", 1}};
  EXPECT_EQ(known_text(number),
            "1 wrong, 240 challenge, 5 broker, 1 unresolved (2 no_candidate, 1 broker_busy, 1 no_slot)");
  number.tiers = {{"broker", 200}};
  number.reasons.clear();
  EXPECT_EQ(known_text(number), "1 wrong, 200 broker, 45, 1 unresolved") << "45 tell no tier";
}

TEST(KnownText, NothingAtAllIsNought) {
  EXPECT_EQ(known_text({}), "0");
}

TEST(KnowledgeFindings, OneNumberIsNotSaidToBeTheIdentity) {
  EXPECT_EQ(
      first_sentence(init_without_broker()),
      "One shared cache (1x4): every tiered worker knows its own host PID (4 of 4, initial-namespace); the "
      "NVML PID is known to none (4 no_context).");
  auto run = good_tiered_run("1x4");
  for (int i = 0; i < 4; ++i) forget_host(run, i, "no_broker");
  EXPECT_EQ(
      first_sentence(run),
      "One shared cache (1x4): no tiered worker knows its host PID (4 no_broker); all know their own NVML "
      "PID (4 of 4, broker).");
}

TEST(KnowledgeFindings, BothNumbersAreSaidEach) {
  EXPECT_EQ(
      first_sentence(good_tiered_run("1x4")),
      "One shared cache (1x4): every tiered worker knows its own host PID (4 of 4, broker); all know their "
      "own NVML PID (4 of 4, broker).");
}

TEST(KnowledgeFindings, WhereNothingIsKnownThatIsSaidAndNoSuccess) {
  const std::string sentence = first_sentence(nothing_known());
  EXPECT_EQ(
      sentence,
      "Isolated caches (2x2): no tiered worker knows its PID: neither the host's (4 no_broker) nor NVML's "
      "(4 no_context).");
  for (const char* word : {"every", "all know", "found", "self"})
    EXPECT_FALSE(contains(sentence, word)) << word;
  for (const std::string& said : build_model(source_of({nothing_known()})).interpretation) {
    EXPECT_FALSE(contains(said, "no peer among")) << said;
  }
}

TEST(KnowledgeFindings, SomeAreCountedWithTheReasonsOfTheOthers) {
  auto run = good_tiered_run("1x4");
  forget_host(run, 0, "broker_busy");
  forget_nvml(run, 1, "broker_view_unknown");
  forget_nvml(run, 2, "broker_busy");
  EXPECT_EQ(
      first_sentence(run),
      "One shared cache (1x4): 3 of 4 tiered workers know their own host PID (broker; 1 broker_busy); 2 of "
      "4 know their own NVML PID (broker; 1 broker_busy, 1 broker_view_unknown).");
}

TEST(KnowledgeFindings, WhatIsWrongComesFirst) {
  auto run = good_tiered_run("1x4");
  run.workers[0].discovery.assigned_nvml_pid = pid_of(1);
  run.workers[1].discovery.assigned_pid = 99'999;
  EXPECT_EQ(
      first_sentence(run),
      "One shared cache (1x4): 1 of 4 tiered workers silently hold another worker's PID, 1 holds a PID of "
      "no worker; no cuInit call failed; 3 of 4 tiered workers know their own host PID, 1 holds a wrong "
      "one (broker); 3 of 4 know their own NVML PID, 1 holds a wrong one (broker).");
}

TEST(KnowledgeFindings, WhatCouldNotBeReadIsNotMissing) {
  auto run = good_tiered_run("1x2");
  for (auto& worker : run.workers) {
    worker.discovery = {};
    worker.discovery.reason = "no_slot";
  }
  EXPECT_EQ(
      first_sentence(run),
      "One shared cache (1x2): no tiered worker knows its host PID, 2 could not be resolved (2 no_slot); "
      "the NVML PID is known to none, 2 could not be resolved (2 no_slot).");
}

TEST(KnowledgeTerminal, TheTableStandsBelowTheClassesOnlyOfArmsThatClaimTwo) {
  auto tiered = init_without_broker("1x4", 2);
  const std::string text = terminal_report(summarise({good_run("1x4", "legacy", 1), tiered}));
  EXPECT_TRUE(contains(text, R"(
What the workers know: how many are right, by what proved it (why the others do not know)
  topology  arm     workers  host PID             NVML PID
  1x4       tiered        4  4 initial-namespace  0 (4 no_context)

Wall time)"))
      << text;
  EXPECT_FALSE(contains(terminal_report(summarise({good_run("1x4", "legacy")})), "What the workers know"));
}

TEST(KnowledgeTerminal, NamesFromOutsideCannotCommandTheTerminalOrWidenTheTable) {
  auto run = good_tiered_run("4096x1");
  run.record.arm = "\x1b[31m" + std::string(300, 'x');
  for (auto& worker : run.workers) worker.discovery.tier = "\x1b]" + std::string(300, 'y');
  for (int i = 0; i < 4000; ++i) forget_nvml(run, i, "\x07" + std::string(300, 'z'));
  const std::string text = terminal_report(summarise({run}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(width, static_cast<std::ptrdiff_t>(kMaxColumns)) << line;
  }
}

TEST(KnowledgeTerminal, IsolationAndABrokerAreSaidWithWhatItWasMeasuredOn) {
  auto run = good_tiered_run("2x2");
  EXPECT_EQ(setting_text(summarise({run}).settings.at(0)),
            "Measured on the simulated node, profile study, time scale 0.05");
  test::isolate(run, evidence::NvmlView::kTranslated);
  run.record.broker = true;
  EXPECT_EQ(setting_text(summarise({run}).settings.at(0)),
            "Measured on the simulated node, profile study, time scale 0.05, isolation pid, NVML view "
            "translated, with a broker");
}

TEST(AddedTimes, AreShownOfArmsThatTellThem) {
  auto tiered = good_tiered_run("1x4", 2);
  for (int i = 0; i < 4; ++i) tiered.workers[static_cast<size_t>(i)].discovery.added_ns = (i + 1) * kMs / 32;
  const auto runs = std::vector{good_run("1x4", "native", 1), tiered};
  const std::string text = terminal_report(summarise(runs));
  EXPECT_TRUE(contains(text, R"(
Time that the library adds to each worker, over all workers of the valid runs
  topology  arm     workers  cuInit p50       p99
  1x4       tiered        4   0.0625 ms  0.125 ms
)")) << text;
  tiered.workers[3].discovery.context_added_ns = 2 * kMs;
  const auto model = build_model(source_of({runs[0], tiered}));
  ASSERT_EQ(model.added.rows.size(), 1U) << "native tells none";
  EXPECT_EQ(model.added.rows[0],
            (Row{"1x4", "tiered", "4", "0.0625 ms", "0.125 ms", "1", "2.00 ms", "2.00 ms"}));
  EXPECT_EQ(model.added.columns.size(), model.added.rows[0].size());
}

TEST(AddedTimes, AreNotMentionedWhereNobodyTells) {
  EXPECT_FALSE(contains(terminal_report(summarise({good_tiered_run("1x2")})), "library adds"));
  EXPECT_TRUE(build_model(source_of({good_run("1x2", "legacy")})).added.rows.empty());
}

TEST(KnowledgeDocuments, HtmlAndMarkdownHoldTheTablesAndLegacyAloneHasNone) {
  auto run = init_without_broker();
  run.workers[0].discovery.added_ns = kMs;
  const auto model = build_model(source_of({run}));
  EXPECT_EQ(model.knowledge.rows,
            (std::vector<Row>{{"1x4", "tiered", "4", "4 initial-namespace", "0 (4 no_context)"}}));
  const auto html = html_report(source_of({run}));
  ASSERT_TRUE(html);
  const std::string markdown = markdown_report(source_of({run}));
  EXPECT_TRUE(contains(*html, "<td>4 initial-namespace</td><td>0 (4 no_context)</td>"));
  EXPECT_TRUE(contains(*html, "Time that the library adds"));
  EXPECT_TRUE(contains(markdown, "| 1x4 | tiered | 4 | 4 initial-namespace | 0 (4 no_context) |"));
  EXPECT_TRUE(contains(markdown, "| 1x4 | tiered | 1 | 1.00 ms | 1.00 ms |"));
  const std::string plain = markdown_report(source_of({good_run("1x4", "legacy")}));
  EXPECT_FALSE(contains(plain, "What the workers know"));
  EXPECT_FALSE(contains(plain, "library adds"));
}

TEST(KnowledgeCharts, HoldBothNumbersOfEveryWorkerAndOneOfOtherArms) {
  auto run = good_tiered_run("1x3", 2);
  run.workers[0].discovery.assigned_nvml_pid = 7;
  forget_nvml(run, 1, "no_context");
  forget_host(run, 2, "no_broker");
  const ReportSource source = source_of({good_run("1x3", "legacy", 1), run});
  const auto data = nlohmann::json::parse(chart_data(build_model(source), source));
  EXPECT_FALSE(data["runs"][0].contains("nvml"));
  EXPECT_EQ(data["runs"][1]["got"], nlohmann::json({pid_of(0), pid_of(1), nullptr}));
  EXPECT_EQ(data["runs"][1]["nvml"], nlohmann::json({7, nullptr, pid_of(2)}));
}

TEST(KnowledgeJson, IsNullForArmsOfOneNumber) {
  auto run = init_without_broker("1x4", 2);
  run.record.broker = true;
  run.workers[0].discovery.added_ns = kMs / 2;
  const auto json = nlohmann::json::parse(json_report(summarise({good_run("1x4", "legacy", 1), run})));
  EXPECT_TRUE(json["conditions"][0]["knowledge"].is_null());
  EXPECT_EQ(json["conditions"][0]["added_ms"],
            (nlohmann::json{{"n", 0}, {"p50", nullptr}, {"p99", nullptr}}));
  const auto& tiered = json["conditions"][1];
  EXPECT_EQ(tiered["knowledge"]["host"], (nlohmann::json{{"right", 4},
                                                         {"wrong", 0},
                                                         {"unresolved", 0},
                                                         {"missing", 0},
                                                         {"tiers", {{"initial-namespace", 4}}},
                                                         {"reasons", nlohmann::json::object()}}));
  EXPECT_EQ(tiered["knowledge"]["nvml"]["missing"], 4);
  EXPECT_EQ(tiered["knowledge"]["nvml"]["reasons"]["no_context"], 4);
  EXPECT_EQ(tiered["added_ms"], (nlohmann::json{{"n", 1}, {"p50", 0.5}, {"p99", 0.5}}));
  EXPECT_TRUE(tiered["context_added_ms"]["p50"].is_null());
  EXPECT_EQ(json["settings"][0]["broker"], true);
}

}  // namespace
}  // namespace rollcall::report
