// Reads a log of any size in pieces of any size, with bounded memory: who spoke, what each
// said last, the benchmark lines, and how much could not be understood.
//
// It is fast because most lines of a large log ("merge pid=…") begin like one that was read
// before: a prefix that was parsed strictly once is recognised by its bytes, and whether a
// message can tell anything is known from its first letter. Everything else goes to
// read_line, and the result is the same as if every line went there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evidence/records.h"
#include "hami/verdict.h"

namespace rollcall::importer {

inline constexpr size_t kMaxLineBytes = size_t{64} << 10;  // longer lines are skipped
inline constexpr size_t kMaxSpeakers = 65'536;             // of one log
inline constexpr size_t kMaxBenchmarks = 16;               // of one log; one is expected

struct Speaker {
  int64_t pid = 0;  // its own getpid(), from its prefix
  hami::Verdict last;
  friend bool operator==(const Speaker&, const Speaker&) = default;
};

struct LogReading {
  uint64_t bytes = 0;
  uint64_t lines = 0;  // the sum of the next five
  uint64_t hami_lines = 0;
  uint64_t benchmark_lines = 0;
  uint64_t cut_lines = 0;  // parts of lines, and lines that ran together
  uint64_t other_lines = 0;
  uint64_t long_lines = 0;        // more than kMaxLineBytes
  uint64_t nul_bytes = 0;         // before lines, and in those that are not understood
  uint64_t forgotten_lines = 0;   // of PIDs beyond kMaxSpeakers
  std::vector<Speaker> speakers;  // in the order of their first lines
  std::vector<evidence::Benchmark> benchmarks;
  friend bool operator==(const LogReading&, const LogReading&) = default;
};

class LogScanner {
 public:
  LogScanner();
  void add(std::string_view bytes);
  // Once, after the last piece: a line that has no end is taken as cut.
  LogReading finish();

 private:
  // A prefix that was parsed strictly, and whose speaker is remembered.
  struct KnownPrefix {
    static constexpr size_t kMaxBytes = 124;
    uint32_t bytes = 0;  // 0: free
    char text[kMaxBytes] = {};
  };
  static constexpr size_t kWays = 4;
  static constexpr size_t kSets = 1024;

  static size_t set_of(const char* line);
  const char* skip_known_line(const char* at, const char* end);
  const char* end_open_line(const char* at, const char* end);
  void keep_open(std::string_view part);
  void take(std::string_view line, bool whole);
  bool hear(const hami::LogLine& line);
  void learn(std::string_view line);

  LogReading reading_;
  std::unordered_map<int64_t, size_t> index_;  // PID to speaker
  std::vector<KnownPrefix> known_;             // kSets of kWays
  std::vector<uint8_t> oldest_;                // the way to replace next, by set
  std::string open_;                           // a line whose end has not come
  bool skipping_ = false;                      // in a line that is too long
};

}  // namespace rollcall::importer
