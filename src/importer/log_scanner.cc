// See log_scanner.h. The quick way through a known line is skip_known_line; what it may
// not decide, it leaves to take().
#include "importer/log_scanner.h"

#include <algorithm>
#include <cstring>

#include "importer/log_line.h"

namespace rollcall::importer {
namespace {

// What follows "[HAMI-core " differs between speakers: the level, the PID and the thread.
// Every valid prefix is longer than this.
constexpr size_t kKeyOffset = hami::kLogStart.size();
constexpr size_t kKeyBytes = 16;

const char* find_line_end(const char* at, const char* end) {
  return static_cast<const char*>(memchr(at, '\n', static_cast<size_t>(end - at)));
}

}  // namespace

LogScanner::LogScanner() : known_(kSets * kWays), oldest_(kSets) {}

size_t LogScanner::set_of(const char* line) {
  uint64_t first = 0;
  uint64_t second = 0;
  static_assert(sizeof first + sizeof second == kKeyBytes);
  memcpy(&first, line + kKeyOffset, sizeof first);
  memcpy(&second, line + kKeyOffset + sizeof first, sizeof second);
  // Multiplicative hashing with odd constants near the golden ratio; the high bits are mixed best.
  const uint64_t mixed = (first * 0x9E3779B97F4A7C15ULL) ^ (second * 0xC2B2AE3D27D4EB4FULL);
  return (mixed * 0x9E3779B97F4A7C15ULL) >> 54;
}
static_assert(uint64_t{1} << (64 - 54) == 1024, "the shift in set_of() gives kSets sets");

// The end of a line that says nothing new: whole, of HAMi-core, by a speaker who is known.
// Null: not to be decided here.
const char* LogScanner::skip_known_line(const char* at, const char* end) {
  // So that no comparison reads beyond the end; the last lines of a piece go the slow way.
  if (static_cast<size_t>(end - at) <= KnownPrefix::kMaxBytes) return nullptr;
  const KnownPrefix* const set = &known_[set_of(at) * kWays];
  for (size_t way = 0; way < kWays; ++way) {
    const KnownPrefix& prefix = set[way];
    if (prefix.bytes == 0 || memcmp(at, prefix.text, prefix.bytes) != 0) continue;
    const char* const message = at + prefix.bytes;
    if (hami::can_tell(*message)) return nullptr;
    const char* const line_end = find_line_end(message, end);
    if (line_end == nullptr || static_cast<size_t>(line_end - at) > kMaxLineBytes) return nullptr;
    // Perhaps the start of another line that ran into this one.
    if (memchr(message, hami::kLogStart.front(), static_cast<size_t>(line_end - message)) != nullptr)
      return nullptr;
    ++reading_.lines;
    ++reading_.hami_lines;
    return line_end + 1;
  }
  return nullptr;
}

void LogScanner::keep_open(std::string_view part) {
  if (open_.size() + part.size() > kMaxLineBytes) skipping_ = true;
  if (skipping_) {
    open_.clear();
  } else {
    open_.append(part);
  }
}

// The rest of a line that began in an earlier piece.
const char* LogScanner::end_open_line(const char* at, const char* end) {
  const char* const line_end = find_line_end(at, end);
  if (line_end == nullptr) {
    keep_open({at, static_cast<size_t>(end - at)});
    return end;
  }
  keep_open({at, static_cast<size_t>(line_end - at)});
  if (skipping_) {
    ++reading_.lines;
    ++reading_.long_lines;
  } else {
    take(open_, true);
  }
  open_.clear();
  skipping_ = false;
  return line_end + 1;
}

void LogScanner::add(std::string_view bytes) {
  reading_.bytes += bytes.size();
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    if (skipping_ || !open_.empty()) {
      at = end_open_line(at, end);
      continue;
    }
    if (*at == '\0') {  // the hole in a file that was cut while it was written
      ++reading_.nul_bytes;
      ++at;
      continue;
    }
    if (const char* next = skip_known_line(at, end); next != nullptr) {
      at = next;
      continue;
    }
    const char* const line_end = find_line_end(at, end);
    if (line_end == nullptr || static_cast<size_t>(line_end - at) > kMaxLineBytes) {
      at = end_open_line(at, end);
      continue;
    }
    take({at, static_cast<size_t>(line_end - at)}, true);
    at = line_end + 1;
  }
}

LogReading LogScanner::finish() {
  if (skipping_) {
    ++reading_.lines;
    ++reading_.long_lines;
  } else if (!open_.empty()) {
    take(open_, false);
  }
  open_.clear();
  skipping_ = false;
  return std::move(reading_);
}

void LogScanner::take(std::string_view line, bool whole) {
  ++reading_.lines;
  LineReading said = read_line(line, whole);
  bool remembered = true;
  for (const hami::LogLine& one : said.heard) remembered = hear(one) && remembered;
  if (!remembered) ++reading_.forgotten_lines;
  switch (said.kind) {
    case LineKind::kHami:
      ++reading_.hami_lines;
      if (remembered) learn(line);
      return;
    case LineKind::kBenchmark:
      ++reading_.benchmark_lines;
      if (reading_.benchmarks.size() < kMaxBenchmarks)
        reading_.benchmarks.push_back(std::move(*said.benchmark));
      return;
    case LineKind::kCut:
      ++reading_.cut_lines;
      break;
    case LineKind::kOther:
      ++reading_.other_lines;
      break;
  }
  reading_.nul_bytes += static_cast<uint64_t>(std::count(line.begin(), line.end(), '\0'));
}

// False if the speaker is one too many.
bool LogScanner::hear(const hami::LogLine& line) {
  auto found = index_.find(line.pid);
  if (found == index_.end()) {
    if (reading_.speakers.size() == kMaxSpeakers) return false;
    found = index_.emplace(line.pid, reading_.speakers.size()).first;
    reading_.speakers.push_back({line.pid, {hami::Says::kNothing, 0, "not_in_log"}});
  }
  hami::hear(reading_.speakers[found->second].last, line);
  return true;
}

void LogScanner::learn(std::string_view line) {
  const auto prefix = hami::parse_log_prefix(line);
  if (!prefix || prefix->bytes > KnownPrefix::kMaxBytes || prefix->bytes < kKeyOffset + kKeyBytes) return;
  const size_t set = set_of(line.data());
  KnownPrefix* const ways = &known_[set * kWays];
  const std::string_view text = line.substr(0, prefix->bytes);
  for (size_t way = 0; way < kWays; ++way) {
    if (std::string_view(ways[way].text, ways[way].bytes) == text) return;
  }
  KnownPrefix& place = ways[oldest_[set]];
  oldest_[set] = static_cast<uint8_t>((oldest_[set] + 1) % kWays);
  place.bytes = static_cast<uint32_t>(prefix->bytes);
  memcpy(place.text, text.data(), text.size());
}

}  // namespace rollcall::importer
