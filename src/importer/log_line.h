// What one line of a log says. Strict and slow; the scanner asks it only where it cannot
// tell by itself, and must never differ from it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "evidence/records.h"
#include "hami/log.h"

namespace rollcall::importer {

// Each line is of exactly one kind.
enum class LineKind {
  kHami,       // a whole line of HAMi-core
  kBenchmark,  // the workload's own summary
  kCut,        // a part of a line of HAMi-core: cut, or run together with another
  kOther,      // of another program, or empty
};
struct LineReading {
  LineKind kind = LineKind::kOther;
  // Who spoke in it, in order. Of a line that was cut nothing is believed but that.
  std::vector<hami::LogLine> heard;
  std::optional<evidence::Benchmark> benchmark;
};

// Without its line feed and any NUL bytes before it. Not `whole`: the log ended in it.
LineReading read_line(std::string_view line, bool whole);

}  // namespace rollcall::importer
