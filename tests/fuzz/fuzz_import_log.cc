// A log of an import, read in pieces of any size on the quick way, against every line
// of it read on the slow and strict one: the reading must be the same. In an input the
// byte 255 and one after it stand for a text of up to 64 KiB, so that long lines have
// short inputs.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "fuzz.h"
#include "hami/verdict.h"
#include "importer/log_line.h"
#include "importer/log_scanner.h"

namespace {

using namespace rollcall;
using importer::LineKind;
using importer::LogReading;

constexpr size_t kMaxLogBytes = size_t{512} << 10;

std::string expand(std::string_view input) {
  std::string log;
  for (size_t i = 0; i < input.size() && log.size() < kMaxLogBytes; ++i) {
    if (input[i] == '\xff' && i + 1 < input.size()) {
      log.append((static_cast<unsigned char>(input[++i]) + size_t{1}) * 256, 'z');
    } else {
      log += input[i];
    }
  }
  return log;
}

// As log_scanner.h says it, a line at a time.
LogReading slow_reading(std::string_view log) {
  LogReading reading;
  reading.bytes = log.size();
  while (true) {
    while (log.starts_with('\0')) {
      log.remove_prefix(1);
      ++reading.nul_bytes;
    }
    if (log.empty()) return reading;
    const size_t end = log.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = rollcall::fuzz::take_until(log, '\n');
    ++reading.lines;
    if (line.size() > importer::kMaxLineBytes) {
      ++reading.long_lines;
      continue;
    }
    const importer::LineReading said = importer::read_line(line, whole);
    for (const hami::LogLine& one : said.heard) {
      auto speaker = std::find_if(reading.speakers.begin(), reading.speakers.end(),
                                  [&](const importer::Speaker& known) { return known.pid == one.pid; });
      if (speaker == reading.speakers.end()) {
        reading.speakers.push_back({one.pid, {hami::Says::kNothing, 0, "not_in_log"}});
        speaker = reading.speakers.end() - 1;
      }
      hami::hear(speaker->last, one);
    }
    switch (said.kind) {
      case LineKind::kHami:
        ++reading.hami_lines;
        continue;
      case LineKind::kBenchmark:
        HOLDS(said.benchmark.has_value());
        ++reading.benchmark_lines;
        if (reading.benchmarks.size() < importer::kMaxBenchmarks)
          reading.benchmarks.push_back(*said.benchmark);
        continue;
      case LineKind::kCut:
        ++reading.cut_lines;
        break;
      case LineKind::kOther:
        ++reading.other_lines;
        break;
    }
    reading.nul_bytes += static_cast<uint64_t>(std::count(line.begin(), line.end(), '\0'));
  }
}

LogReading quick_reading(std::string_view log, size_t piece_bytes) {
  importer::LogScanner scanner;
  while (!log.empty()) {
    // Bytes of its own, so that a read beyond the piece is seen.
    const std::string piece(log.substr(0, piece_bytes));
    log.remove_prefix(piece.size());
    scanner.add(std::string_view(piece));
  }
  return scanner.finish();
}

void check_reading(const LogReading& reading, std::string_view log) {
  HOLDS(reading.bytes == log.size());
  HOLDS(reading.lines == reading.hami_lines + reading.benchmark_lines + reading.cut_lines +
                             reading.other_lines + reading.long_lines);
  HOLDS(reading.benchmarks.size() == std::min<uint64_t>(reading.benchmark_lines, importer::kMaxBenchmarks));
  std::set<int64_t> pids;
  for (const importer::Speaker& speaker : reading.speakers) {
    HOLDS(speaker.pid > 0 && pids.insert(speaker.pid).second);
    HOLDS((speaker.last.says == hami::Says::kAssigned) == (speaker.last.assigned_pid != 0));
    if (speaker.last.says != hami::Says::kAssigned) {
      HOLDS(std::string_view(speaker.last.reason) != "");
      continue;
    }
    HOLDS(speaker.last.assigned_pid > 0);
    HOLDS(log.find("hostPid=") != std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece_bytes = data[0] % 64 + size_t{1};
  const std::string log = expand({reinterpret_cast<const char*>(data) + 1, size - 1});
  const LogReading slow = slow_reading(log);
  check_reading(slow, log);
  HOLDS(quick_reading(log, log.size() + 1) == slow);
  HOLDS(quick_reading(log, 300) == slow);
  if (log.size() < 64 * 1024) HOLDS(quick_reading(log, piece_bytes) == slow);
  return 0;
}
