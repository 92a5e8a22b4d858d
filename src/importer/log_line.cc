// See log_line.h.
#include "importer/log_line.h"

#include <string>

#include "importer/bench_line.h"

namespace rollcall::importer {
namespace {

using hami::kLogStart;

// A line that was cut is like one into which another one ran: neither is believed.
void hear_part(std::string_view part, std::vector<hami::LogLine>& heard) {
  if (const auto line = hami::parse_log_line(std::string(part) + std::string(kLogStart)))
    heard.push_back(*line);
}

}  // namespace

LineReading read_line(std::string_view line, bool whole) {
  LineReading reading;
  if (line.ends_with('\r')) line.remove_suffix(1);
  // An object is whole by itself; a number at the end of a row may lack digits.
  if ((reading.benchmark = parse_bench_json(line)) ||
      (whole && (reading.benchmark = parse_bench_csv(line)))) {
    reading.kind = LineKind::kBenchmark;
    return reading;
  }
  size_t start = line.find(kLogStart);
  if (start == std::string_view::npos) {
    const bool cut = line.starts_with('[') && kLogStart.starts_with(line);
    reading.kind = cut ? LineKind::kCut : LineKind::kOther;
    return reading;
  }
  size_t next = line.find(kLogStart, start + 1);
  if (start == 0 && next == std::string_view::npos && whole) {
    if (const auto said = hami::parse_log_line(line)) {
      reading.kind = LineKind::kHami;
      reading.heard.push_back(*said);
      return reading;
    }
  }
  reading.kind = LineKind::kCut;
  while (start != std::string_view::npos) {
    next = line.find(kLogStart, start + 1);
    hear_part(line.substr(start, next == std::string_view::npos ? next : next - start), reading.heard);
    start = next;
  }
  return reading;
}

}  // namespace rollcall::importer
