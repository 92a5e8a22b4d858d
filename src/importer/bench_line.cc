// See bench_line.h.
#include "importer/bench_line.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "evidence/json_object.h"
#include "evidence/limits.h"
#include "importer/decimal.h"

namespace rollcall::importer {
namespace {

using evidence::Benchmark;

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMaxCount = 1'000'000;

struct JsonTime {
  const char* key;
  std::optional<int64_t> Benchmark::*member;
};
constexpr JsonTime kJsonTimes[] = {{"wall_ms", &Benchmark::wall_ns}, {"span_ms", &Benchmark::span_ns},
                                   {"mean_ms", &Benchmark::mean_ns}, {"p50_ms", &Benchmark::p50_ns},
                                   {"p95_ms", &Benchmark::p95_ns},   {"p99_ms", &Benchmark::p99_ns},
                                   {"min_ms", &Benchmark::min_ns},   {"max_ms", &Benchmark::max_ns}};

std::optional<int64_t> count_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<uint64_t>();
  if (value > static_cast<uint64_t>(kMaxCount)) return std::nullopt;
  return static_cast<int64_t>(value);
}

// A double holds every number of up to 15 digits exactly enough to give its nanoseconds.
std::optional<int64_t> time_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double ns = found->get<double>() * static_cast<double>(kNsPerMs);
  if (!(ns >= 0) || ns > static_cast<double>(kMaxTimeNs)) return std::nullopt;
  return std::llround(ns);
}

}  // namespace

std::optional<Benchmark> parse_bench_json(std::string_view line) {
  if (line.size() > kMaxBenchLineBytes || !line.starts_with('{')) return std::nullopt;
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Benchmark benchmark;
  const auto n = count_of(object, "n");
  benchmark.ok = count_of(object, "ok");
  benchmark.failed = count_of(object, "failed");
  for (const JsonTime& time : kJsonTimes) benchmark.*time.member = time_of(object, time.key);
  if (!n || !benchmark.ok || !benchmark.failed || !benchmark.wall_ns) return std::nullopt;
  benchmark.n = *n;
  return benchmark;
}

std::optional<Benchmark> parse_bench_csv(std::string_view line) {
  constexpr size_t kFields = 14;
  if (line.size() > kMaxBenchLineBytes || !line.starts_with("CSV,")) return std::nullopt;
  std::array<std::string_view, kFields> fields;
  for (size_t i = 0; i < kFields; ++i) {
    const size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
    fields[i] = line.substr(0, comma);
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  Benchmark benchmark;
  benchmark.label = evidence::clean_text(fields[1]);
  const auto n = parse_count(fields[2], kMaxCount);
  benchmark.ok = parse_count(fields[3], kMaxCount);
  benchmark.failed = parse_count(fields[4], kMaxCount);
  if (!n || !benchmark.ok || !benchmark.failed) return std::nullopt;
  benchmark.n = *n;
  constexpr std::optional<int64_t> Benchmark::*kTimes[] = {
      &Benchmark::wall_ns, &Benchmark::min_ns,      &Benchmark::p50_ns,
      &Benchmark::mean_ns, &Benchmark::p95_ns,      &Benchmark::p99_ns,
      &Benchmark::max_ns,  &Benchmark::mean_cpu_ns, &Benchmark::mean_wait_ns};
  for (size_t i = 0; i < std::size(kTimes); ++i) {
    const auto time = parse_decimal(fields[5 + i], kNsPerMs);
    if (!time) return std::nullopt;
    benchmark.*kTimes[i] = time->ns;
  }
  return benchmark;
}

}  // namespace rollcall::importer
