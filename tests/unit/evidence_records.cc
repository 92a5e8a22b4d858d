// The files' form, and that a record is read exactly as it says or not at all.
#include <gtest/gtest.h>

#include <limits>

#include "analysis_runs.h"
#include "evidence/limits.h"
#include "evidence/records.h"

namespace rollcall::evidence {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const base::Result<RunRecord>& result) {
  return result ? "" : result.error().line();
}
std::string error_of(const base::Result<WorkerRecord>& result) {
  return result ? "" : result.error().line();
}

void expect_mentions(const std::string& error, std::initializer_list<const char*> words) {
  EXPECT_NE(error, "") << "it was accepted";
  for (const char* word : words) EXPECT_NE(error.find(word), std::string::npos) << error << " lacks " << word;
}

TEST(RunRecord, IdIsTheNameOfItsFolder) {
  EXPECT_EQ(run_id(7, Topology::parse("50x5").value(), "legacy-node-lock", 2),
            "007-50x5-legacy-node-lock-r2");
  EXPECT_EQ(run_id(1234, Topology::parse("1x1").value(), "a", 10), "1234-1x1-a-r10");
}

TEST(RunRecord, TheFileIsPrettyAndOpensWithItsFormat) {
  const std::string text = print_run(test::good_run("1x2", "legacy").record);
  EXPECT_TRUE(text.starts_with("{\n  \"format\": 1,\n  \"number\": 1,\n  \"topology\": \"1x2\",\n"));
  EXPECT_TRUE(text.ends_with("\n}\n"));
}

TEST(RunRecord, WhatIsNotKnownIsNotThere) {
  RunRecord record;
  const std::string text = print_run(record);
  for (const char* key : {"time_scale", "gate_opened_ns", "last_gone_ns", "collect_ns"}) {
    EXPECT_EQ(text.find(key), std::string::npos) << key;
  }
}

TEST(RunRecord, ReadsBackWhatWasPrinted) {
  RunRecord record = test::good_run("3x4", "legacy", 12, 2).record;
  record.events = {{"stale_cache", "cache_0 was there: \"\n\t\x01\""}};
  record.time_scale = 0.1 + 0.2;
  record.identity_kind = IdentityKind::kBoth;
  record.view = NvmlView::kTranslated;
  record.isolation = Isolation::kPid;
  record.last_gone_ns = std::numeric_limits<int64_t>::max();
  const auto back = parse_run(print_run(record), "run.json");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(*back, record);
}

TEST(RunRecord, ANumberThatJsonLacksIsLeftOut) {
  RunRecord record = test::good_run("1x1", "legacy").record;
  record.time_scale = std::numeric_limits<double>::infinity();
  const auto back = parse_run(print_run(record), "run.json");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_FALSE(back->time_scale);
}

TEST(RunRecord, EachFaultIsNamedWithItsPlaceAndKey) {
  const std::string good = print_run(test::good_run("1x2", "legacy").record);
  const auto error = [&](const std::string& from, const std::string& to) {
    return error_of(parse_run(replaced(good, from, to), "E/run.json"));
  };
  expect_mentions(error("\"arm\"", "\"arms\""), {"E/run.json", "\"arm\"", "missing"});
  expect_mentions(error("\"format\"", "\"extra\": 1,\n  \"format\""), {"E/run.json", "extra", "not known"});
  expect_mentions(error("\"number\": 1", "\"number\": 1, \"number\": 2"),
                  {"E/run.json", "\"number\"", "twice"});
  expect_mentions(error("\"number\": 1", "\"number\": \"1\""), {"\"number\"", "expected an integer"});
  expect_mentions(error("\"number\": 1", "\"number\": 1.0"), {"\"number\"", "expected an integer"});
  expect_mentions(error("\"number\": 1", "\"number\": 0"), {"\"number\"", "from 1"});
  expect_mentions(error("\"number\": 1", "\"number\": 99999999999"), {"\"number\"", "99999999999"});
  expect_mentions(error("\"format\": 1", "\"format\": 2"), {"\"format\"", "found 2"});
  expect_mentions(error("\"1x2\"", "\"1x0\""), {"\"topology\"", "1x0"});
  expect_mentions(error("\"has_shim\": true", "\"has_shim\": 1"), {"\"has_shim\"", "true or false"});
  expect_mentions(error("\"workload\": \"init\"", "\"workload\": \"Init\""), {"\"workload\"", "Init"});
  expect_mentions(error("\"time_scale\": 0.05", "\"time_scale\": 0"), {"\"time_scale\"", "greater than 0"});
  expect_mentions(error("\"time_scale\": 0.05", "\"time_scale\": 1e999"), {"not valid JSON"});
  expect_mentions(error("\"collect_ns\": 2000000000", "\"collect_ns\": null"), {"\"collect_ns\""});
  expect_mentions(error("\"collect_ns\": 2000000000", "\"collect_ns\": 9223372036854775808"),
                  {"\"collect_ns\""});
  expect_mentions(error("\"events\": []", "\"events\": [{\"code\": \"x\"}]"),
                  {"events[0].detail", "missing"});
  expect_mentions(error("\"events\": []", "\"events\": [{\"code\": \"x\", \"detail\": \"\", \"y\": 1}]"),
                  {"events[0].y", "not known"});
  expect_mentions(error("\"events\": []", "\"events\": {}"), {"\"events\"", "a list"});
  expect_mentions(error("\"legacy\"", "\"\xFF\""), {"E/run.json", "not valid JSON", "byte"});
  expect_mentions(error_of(parse_run("", "E/run.json")), {"E/run.json", "not valid JSON"});
  expect_mentions(error_of(parse_run("[]", "E/run.json")), {"E/run.json", "an object"});
  expect_mentions(error_of(parse_run(good + "{}", "E/run.json")), {"not valid JSON"});
}

TEST(RunRecord, AFaultyFileIsTheUsersInput) {
  EXPECT_EQ(parse_run("{", "run.json").error().kind, base::ErrorKind::kUsage);
}

TEST(WorkerRecord, IsOneCompactLine) {
  WorkerRecord record = test::good_run("1x2", "legacy").workers[1];
  record.error = "two\nlines";
  const std::string line = print_worker(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(line.starts_with("{\"worker\":1,\"cache\":0,\"pid\":1001,")) << line;
}

TEST(WorkerRecord, ReadsBackWhatWasPrinted) {
  WorkerRecord record = test::good_run("1x2", "legacy").workers[1];
  record.exit_signal = 11;
  record.start_time = std::numeric_limits<uint64_t>::max();
  record.released_ns = -5;
  record.discovery.added_ns = 0;
  record.error = std::string("a\0b", 3);
  const auto back = parse_worker(print_worker(record), "workers.jsonl:2");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(*back, record);
}

TEST(WorkerRecord, ReadsBackTwoNumbersAndWhyOneIsMissing) {
  WorkerRecord both = test::good_tiered_run("1x1").workers[0];
  both.discovery.assigned_nvml_pid = 17;
  WorkerRecord host = both;
  host.discovery.assigned_nvml_pid.reset();
  host.discovery.nvml_tier.clear();
  host.discovery.nvml_reason = "no_context";
  WorkerRecord nvml = both;
  nvml.discovery.assigned_pid.reset();
  nvml.discovery.tier.clear();
  nvml.discovery.reason = "no_broker";
  WorkerRecord none = nvml;
  none.discovery.state = DiscoveryState::kFailed;
  none.discovery.assigned_nvml_pid.reset();
  none.discovery.nvml_reason = "no_context";
  for (const WorkerRecord& record : {both, host, nvml, none}) {
    const auto back = parse_worker(print_worker(record), "workers.jsonl:1");
    ASSERT_TRUE(back) << back.error().line();
    EXPECT_EQ(*back, record);
  }
}

TEST(WorkerRecord, OfASourceOfOneNumberNothingIsSaidOfASecond) {
  EXPECT_EQ(print_worker(test::good_run("1x1", "legacy").workers[0]).find("nvml"), std::string::npos);
}

TEST(WorkerRecord, ANumberWithoutBeingAssignedIsAContradiction) {
  WorkerRecord record = test::good_tiered_run("1x1").workers[0];
  record.discovery.assigned_pid.reset();
  const std::string good = print_worker(record);
  EXPECT_TRUE(parse_worker(good, "w"));
  expect_mentions(
      error_of(parse_worker(replaced(good, "\"state\":\"assigned\"", "\"state\":\"failed\""), "w")),
      {"discovery.assigned_pid", "assigned_nvml_pid"});
}

TEST(RunRecord, ABrokerIsReadBackAndNotMentionedWhereThereIsNone) {
  RunRecord record = test::good_tiered_run("1x2").record;
  EXPECT_EQ(print_run(record).find("broker"), std::string::npos);
  record.broker = true;
  EXPECT_EQ(parse_run(print_run(record), "run.json").value(), record);
}

TEST(WorkerRecord, OfAWorkerOfWhichNothingIsKnown) {
  const WorkerRecord record;
  const auto back = parse_worker(print_worker(record), "workers.jsonl:1");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(*back, record);
}

TEST(WorkerRecord, EachFaultIsNamedWithItsPlaceAndKey) {
  const std::string good = print_worker(test::good_run("1x2", "legacy").workers[0]);
  const auto error = [&](const std::string& from, const std::string& to) {
    return error_of(parse_worker(replaced(good, from, to), "workers.jsonl:3"));
  };
  expect_mentions(error("\"worker\":0", "\"worker\":-1"),
                  {"workers.jsonl:3", "\"worker\"", "from 0 to 4095"});
  expect_mentions(error("\"worker\":0", "\"worker\":4096"), {"\"worker\"", "4096"});
  expect_mentions(error("\"pid\":1000", "\"pid\":0"), {"\"pid\""});
  expect_mentions(error("\"pid\":1000", "\"pid\":2147483648"), {"\"pid\""});
  expect_mentions(error("\"start_time\":77", "\"start_time\":-1"), {"\"start_time\""});
  expect_mentions(error("\"nspid\":[1000]", "\"nspid\":[\"1000\"]"), {"\"nspid\""});
  expect_mentions(error("\"fate\":\"finished\"", "\"fate\":\"gone\""), {"\"fate\"", "gone"});
  expect_mentions(error("\"assigned_pid\":1000,", ""), {"discovery.assigned_pid"});
  expect_mentions(error("\"state\":\"assigned\"", "\"state\":\"failed\""), {"discovery.assigned_pid"});
  expect_mentions(error("\"tier\":", "\"tier\":\"a\",\"tier\":"), {"tier", "twice"});
  expect_mentions(error("\"source\":\"rollcall\"", "\"source\":\"rollcall\",\"more\":{}"),
                  {"discovery.more"});
  expect_mentions(error("\"cuinit_result\":0", "\"cuinit_result\":4294967296"), {"\"cuinit_result\""});
}

TEST(WorkerRecord, BytesFromOutsideNeverStopTheWriting) {
  WorkerRecord record = test::good_run("1x1", "legacy").workers[0];
  record.error = "bad \xFF\xC3 byte";
  record.driver_library = std::string(1'000'000, '\x80');
  const auto back = parse_worker(print_worker(record), "workers.jsonl:1");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(back->error, "bad \uFFFD\uFFFD byte");
  EXPECT_LE(back->driver_library.size(), kMaxTextBytes);
  EXPECT_EQ(*parse_worker(print_worker(*back), ""), *back) << "once clean, it stays as it is";
}

TEST(WorkerRecord, ALongTextIsCutBetweenCharacters) {
  WorkerRecord record;
  for (size_t i = 0; i < kMaxTextBytes; ++i) record.error += "é";
  const auto back = parse_worker(print_worker(record), "workers.jsonl:1");
  ASSERT_TRUE(back) << back.error().line();
  EXPECT_EQ(back->error, record.error.substr(0, kMaxTextBytes));
  record.error = "x" + record.error;
  EXPECT_EQ(parse_worker(print_worker(record), "")->error, record.error.substr(0, kMaxTextBytes - 1));
}

TEST(WorkerRecord, ListsAndTextsHaveBounds) {
  WorkerRecord record;
  record.thread_ids.assign(kMaxThreadIds + 5, 7);
  EXPECT_EQ(parse_worker(print_worker(record), "")->thread_ids.size(), kMaxThreadIds);
  const std::string good = print_worker(WorkerRecord{});
  expect_mentions(error_of(parse_worker(replaced(good, "\"error\":\"\"",
                                                 "\"error\":\"" + std::string(kMaxTextBytes + 1, 'x') + "\""),
                                        "w")),
                  {"\"error\"", "at most 4096 bytes"});
}

TEST(Words, AreReadAsTheyAreWritten) {
  EXPECT_EQ(to_text(NodeKind::kSimulated), "sim");
  EXPECT_EQ(to_text(NodeKind::kReal), "real");
  EXPECT_EQ(from_text<Workload>("context"), Workload::kContext);
  EXPECT_EQ(from_text<Hold>("all"), Hold::kAll);
  EXPECT_EQ(from_text<Isolation>("pid"), Isolation::kPid);
  EXPECT_EQ(from_text<NvmlView>("translated"), NvmlView::kTranslated);
  EXPECT_EQ(from_text<IdentityKind>("both"), IdentityKind::kBoth);
  EXPECT_EQ(from_text<Fate>("not_started"), Fate::kNotStarted);
  EXPECT_FALSE(from_text<Workload>(""));
  EXPECT_FALSE(from_text<Workload>("none"));
}

}  // namespace
}  // namespace rollcall::evidence
