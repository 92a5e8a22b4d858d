// What the scanner hears in a log, and what it counts instead of hearing it.
#include <gtest/gtest.h>

#include "importer/bench_line.h"
#include "importer/log_scanner.h"

namespace rollcall::importer {
namespace {

using hami::Says;

std::string said(int pid, const std::string& message) {
  return "[HAMI-core Debug(" + std::to_string(pid) +
         ":140314940340032:multiprocess_memory_limit.c:1234)]: " + message;
}
LogReading scan(const std::string& text) {
  LogScanner scanner;
  scanner.add(text);
  return scanner.finish();
}

TEST(ImporterScannerTest, InterleavedWorkersAreToldApart) {
  const LogReading log = scan(said(616, "Initializing") + "\n" + said(615, "hostPid=3") + "\n" +
                              said(616, "hostPid=4") + "\n" + said(615, "hostPid=5") + "\n");
  ASSERT_EQ(log.speakers.size(), 2U);
  EXPECT_EQ(log.speakers[0].pid, 616) << "in the order of their first lines";
  EXPECT_EQ(log.speakers[0].last.assigned_pid, 4);
  EXPECT_EQ(log.speakers[1].last.assigned_pid, 5) << "the last one counts";
  EXPECT_EQ(log.lines, 4U);
  EXPECT_EQ(log.hami_lines, 4U);
}

TEST(ImporterScannerTest, TheCauseOfAFailureStays) {
  const LogReading log = scan(said(616, "host pid is error!") + "\n" +
                              said(616, "SET_TASK_PID FAILED - using container PID") + "\n");
  EXPECT_EQ(log.speakers.at(0).last, (hami::Verdict{Says::kFailed, 0, "host_pid_error"}));
}

TEST(ImporterScannerTest, ALineThatIsCutTakesAwayWhatWasSaidBefore) {
  const std::string before = said(616, "hostPid=4") + "\n";
  for (const std::string& cut :
       {said(616, "hostPid=5"), said(616, "hos"), said(616, "hostPid=5") + said(617, "merge pid=1") + "\n",
        said(617, "merge pid=1") + said(616, "hostPid=5") + "\n"}) {
    const LogReading log = scan(before + cut);
    EXPECT_EQ(log.speakers.at(0).last, (hami::Verdict{Says::kNothing, 0, "unclear_in_log"})) << cut;
    EXPECT_EQ(log.cut_lines, 1U) << cut;
  }
  const LogReading log = scan(before + said(616, "merge pi"));
  EXPECT_EQ(log.speakers.at(0).last.assigned_pid, 4) << "nothing of that kind was cut";
  EXPECT_EQ(log.cut_lines, 1U);
}

TEST(ImporterScannerTest, LinesOfOthersAreCounted) {
  const LogReading log =
      scan("warning: x\n\nSegmentation fault\r\n{\"n\":1}\nCSV,label\n[HAMI-co\n[HAMI-core Info(\n");
  EXPECT_EQ(log.lines, 7U);
  EXPECT_EQ(log.other_lines, 5U);
  EXPECT_EQ(log.cut_lines, 2U);
  EXPECT_TRUE(log.speakers.empty());
}

TEST(ImporterScannerTest, NulBytesAreAHole) {
  const std::string hole(100'000, '\0');
  const LogReading log = scan(said(616, "hostPid=4") + "\r\n" + hole + said(617, "hostPid=5") + "\n" + hole);
  EXPECT_EQ(log.nul_bytes, 200'000U);
  EXPECT_EQ(log.lines, 2U);
  EXPECT_EQ(log.speakers.at(0).last.assigned_pid, 4);
  EXPECT_EQ(log.speakers.at(1).last.assigned_pid, 5);
}

TEST(ImporterScannerTest, ALineThatIsTooLongIsSkippedInBoundedMemory) {
  LogScanner scanner;
  const std::string piece(1 << 20, 'x');
  scanner.add(said(616, "hostPid=4") + "\n" + said(616, "hostPid="));
  for (int i = 0; i < 50; ++i) scanner.add(piece);
  scanner.add("\n" + said(617, "hostPid=5") + "\n");
  const LogReading log = scanner.finish();
  EXPECT_EQ(log.long_lines, 1U);
  EXPECT_EQ(log.speakers.at(0).last.assigned_pid, 4);
  EXPECT_EQ(log.speakers.at(1).last.assigned_pid, 5);
  const LogReading edge =
      scan(std::string(kMaxLineBytes, 'x') + "\n" + std::string(kMaxLineBytes + 1, 'x') + "\n");
  EXPECT_EQ(edge.other_lines, 1U);
  EXPECT_EQ(edge.long_lines, 1U);
}

TEST(ImporterScannerTest, OnlySoManyPidsAreRemembered) {
  LogScanner scanner;
  for (size_t pid = 1; pid <= kMaxSpeakers + 10; ++pid)
    scanner.add(said(static_cast<int>(pid), "hostPid=1") + "\n");
  const LogReading log = scanner.finish();
  EXPECT_EQ(log.speakers.size(), kMaxSpeakers);
  EXPECT_EQ(log.forgotten_lines, 10U);
}

TEST(ImporterScannerTest, AnEmptyLogIsEmpty) {
  EXPECT_EQ(scan(""), LogReading());
}

TEST(ImporterBenchTest, TheJsonLineOfBenchInit) {
  const LogReading log = scan(
      "{\"n\":2,\"ok\":1,\"failed\":1,\"wall_ms\":4262.41,\"span_ms\":4258.36,\"mean_ms\":3235.89,\"p50_ms\":"
      "1.5,"
      "\"p95_ms\":2,\"p99_ms\":3,\"min_ms\":0.01,\"max_ms\":5,\"new\":\"x\"}");
  ASSERT_EQ(log.benchmarks.size(), 1U) << "an object is whole without a line feed";
  const evidence::Benchmark& found = log.benchmarks.front();
  EXPECT_EQ(found.n, 2);
  EXPECT_EQ(found.ok, 1);
  EXPECT_EQ(found.failed, 1);
  EXPECT_EQ(found.wall_ns, 4'262'410'000);
  EXPECT_EQ(found.span_ns, 4'258'360'000);
  EXPECT_EQ(found.p50_ns, 1'500'000);
  EXPECT_EQ(found.min_ns, 10'000);
  EXPECT_EQ(found.max_ns, 5'000'000);
  EXPECT_EQ(log.benchmark_lines, 1U);
}

TEST(ImporterBenchTest, TheCsvLineOfTheLaterBenchmark) {
  const std::string line = "CSV,flock,240,239,1,1000.5,1,2,3.25,4,5,6,7,8";
  const LogReading log = scan(line + "\n");
  ASSERT_EQ(log.benchmarks.size(), 1U);
  const evidence::Benchmark& found = log.benchmarks.front();
  EXPECT_EQ(found.label, "flock");
  EXPECT_EQ(found.n, 240);
  EXPECT_EQ(found.failed, 1);
  EXPECT_EQ(found.wall_ns, 1'000'500'000);
  EXPECT_EQ(found.p50_ns, 2'000'000);
  EXPECT_EQ(found.mean_ns, 3'250'000);
  EXPECT_EQ(found.mean_wait_ns, 8'000'000);
  EXPECT_FALSE(found.span_ns);
  EXPECT_TRUE(scan(line).benchmarks.empty()) << "without its end it may lack digits";
  EXPECT_EQ(scan(line).other_lines, 1U);
}

TEST(ImporterBenchTest, WhatIsNotOneIsNone) {
  for (const char* line :
       {"{}", "{\"n\":2,\"ok\":2,\"failed\":0}", "{\"n\":-2,\"ok\":2,\"failed\":0,\"wall_ms\":1}",
        "{\"n\":2,\"ok\":2,\"failed\":0,\"wall_ms\":-1}", "{\"n\":2,\"ok\":2,\"failed\":0,\"wall_ms\":1",
        "{\"n\":2.5,\"ok\":2,\"failed\":0,\"wall_ms\":1}",
        "{\"n\":2,\"ok\":2,\"failed\":0,\"wall_ms\":1e300}", "[1]"}) {
    EXPECT_FALSE(parse_bench_json(line)) << line;
  }
  for (const char* line :
       {"CSV,a,2,2,0,1,1,1,1,1,1,1,1", "CSV,a,2,2,0,1,1,1,1,1,1,1,1,1,1",
        "CSV,label,processes,ok,failed,wall_ms,min,p50,mean,p95,p99,max,mean_cpu_ms,mean_wait_ms",
        "CSV,a,2,2,0,1,1,1,-1,1,1,1,1,1"}) {
    EXPECT_FALSE(parse_bench_csv(line)) << line;
  }
}

}  // namespace
}  // namespace rollcall::importer
