// The scanner is quick by skipping; it must hear what a strict reading of every line hears.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "importer/log_line.h"
#include "importer/log_scanner.h"
#include "importer/path_template.h"

namespace rollcall::property {
namespace {

using namespace importer;  // NOLINT: this file is about nothing else

// Line by line, without any memory of lines before.
LogReading strict_reading(std::string_view text) {
  LogReading reading;
  reading.bytes = text.size();
  std::map<int64_t, size_t> index;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(whole ? end + 1 : text.size());
    while (line.starts_with('\0')) {
      line.remove_prefix(1);
      ++reading.nul_bytes;
    }
    if (!whole && line.empty()) break;
    ++reading.lines;
    if (line.size() > kMaxLineBytes) {
      ++reading.long_lines;
      continue;
    }
    const LineReading said = read_line(line, whole);
    for (const hami::LogLine& one : said.heard) {
      const auto [found, fresh] = index.emplace(one.pid, reading.speakers.size());
      if (fresh) reading.speakers.push_back({one.pid, {hami::Says::kNothing, 0, "not_in_log"}});
      hami::hear(reading.speakers[found->second].last, one);
    }
    const auto nuls = static_cast<uint64_t>(std::count(line.begin(), line.end(), '\0'));
    if (said.kind == LineKind::kHami) ++reading.hami_lines;
    if (said.kind == LineKind::kCut) ++reading.cut_lines, reading.nul_bytes += nuls;
    if (said.kind == LineKind::kOther) ++reading.other_lines, reading.nul_bytes += nuls;
    if (said.kind == LineKind::kBenchmark) {
      ++reading.benchmark_lines;
      if (reading.benchmarks.size() < kMaxBenchmarks) reading.benchmarks.push_back(*said.benchmark);
    }
  }
  return reading;
}

// Few speakers and places, so that prefixes come again; and everything that can go wrong.
rc::Gen<std::string> any_line() {
  return rc::gen::exec([]() -> std::string {
    const int kind = *rc::gen::inRange(0, 20);
    if (kind == 0)
      return *rc::gen::container<std::string>(rc::gen::element('[', 'H', 'x', '\r', '\0', '{', ','));
    if (kind == 1) return std::string(static_cast<size_t>(*rc::gen::inRange(0, 200)), '\0');
    if (kind == 2) return "{\"n\":2,\"ok\":2,\"failed\":0,\"wall_ms\":1.5}";
    if (kind == 3) return "CSV,a,2,2,0,1,1,1,1,1,1,1,1,1";
    if (kind == 4) return std::string(static_cast<size_t>(*rc::gen::inRange(65'400, 65'600)), 'y');
    const std::string pid = std::to_string(*rc::gen::inRange(8, 12));
    const std::string line_number = std::to_string(*rc::gen::inRange(1, 4));
    const std::string prefix = *rc::gen::element(
        "[HAMI-core Debug(" + pid + ":1403149403400:multiprocess_memory_limit.c:" + line_number + ")]: ",
        "[HAMI-core ERROR (pid:" + pid + " thread=1403149403400 multiprocess.c:" + line_number + ")]: ",
        "[HAMI-core Msg(" + pid + ":1:a.c:2)]: ",
        "[HAMI-core Info(" + pid + ":1403149403400:" + std::string(90, 'p') + ".c:1)]: ",
        "[HAMI-core Info(" + pid + "140314940340032:utils.c:7)]: ");
    const std::string message = *rc::gen::element<std::string>(
        "merge pid=12", "hostPid=9", "hostPid=10 from broker", "hostPid=", "SET PID= 9", "host pid is error!",
        "SET_TASK_PID FAILED", "Initialized", "", "x[y", "\r", "h",
        "Skipped host PID detection due to lock timeout");
    std::string line = prefix + message;
    if (*rc::gen::inRange(0, 6) == 0) line.resize(*rc::gen::inRange<size_t>(0, line.size() + 1));
    if (*rc::gen::inRange(0, 8) == 0)
      line += std::string(static_cast<size_t>(*rc::gen::inRange(65'300, 65'600)), 'z');
    return line;
  });
}

// As large as RapidCheck makes anything from the start: short logs never repeat a prefix.
rc::Gen<std::string> any_log() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([] {
                           std::string log;
                           const int lines = *rc::gen::inRange(0, 60);
                           for (int i = 0; i < lines; ++i) {
                             log += *any_line();
                             const int end = *rc::gen::inRange(0, 12);
                             log += end == 0 ? "" : end == 1 ? "\r\n" : "\n";
                           }
                           return log;
                         }));
}

LogReading scanned(std::string_view text, const std::vector<size_t>& pieces) {
  LogScanner scanner;
  size_t piece = 0;
  while (!text.empty()) {
    const size_t size = pieces.empty() ? text.size() : std::min(text.size(), pieces[piece++ % pieces.size()]);
    // In memory of its own, so that a step beyond the piece is seen.
    const std::vector<char> bytes(text.begin(), text.begin() + static_cast<ptrdiff_t>(size));
    scanner.add({bytes.data(), bytes.size()});
    text.remove_prefix(size);
  }
  return scanner.finish();
}

TEST(ImporterScan, HearsWhatAStrictReadingOfEveryLineHears) {
  EXPECT_TRUE(rc::check("scanner == line by line, in any pieces", [] {
    const std::string log = *any_log();
    const auto pieces = *rc::gen::container<std::vector<size_t>>(
        *rc::gen::inRange<size_t>(0, 4), rc::gen::element<size_t>(1, 7, 100, 126, 1000, 70'000));
    const LogReading strict = strict_reading(log);
    const LogReading quick = scanned(log, pieces);
    RC_CLASSIFY(quick.hami_lines > 20, "many lines");
    RC_ASSERT(quick == strict);
    RC_ASSERT(quick.lines == quick.hami_lines + quick.benchmark_lines + quick.cut_lines + quick.other_lines +
                                 quick.long_lines);
  }));
}

TEST(ImporterScan, AnyBytesAreReadTheSame) {
  EXPECT_TRUE(rc::check("scanner == line by line, on arbitrary bytes", [] {
    const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    RC_ASSERT(scanned(bytes, {1}) == strict_reading(bytes));
    RC_ASSERT(scanned(bytes, {}) == strict_reading(bytes));
  }));
}

TEST(ImporterTemplate, WhatWasFilledInIsFoundAgain) {
  EXPECT_TRUE(rc::check("match(fill(b)) == b", [] {
    const auto layout = PathTemplate::parse("{arm}-{topology}-run{run}_{cache}", "--layout");
    Bindings bindings;
    bindings.of(Variable::kArm) =
        *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', 'b', '_')));
    bindings.of(Variable::kTopology) = std::to_string(*rc::gen::inRange(1, 60)) + "x2";
    bindings.of(Variable::kRun) = std::to_string(*rc::gen::inRange(1, 1000));
    bindings.of(Variable::kCache) = std::to_string(*rc::gen::inRange(0, 60));
    Bindings found;
    RC_ASSERT(layout->match(0, layout->fill(bindings), found) == PathTemplate::Match::kYes);
    RC_ASSERT(found == bindings);
  }));
}

}  // namespace
}  // namespace rollcall::property
