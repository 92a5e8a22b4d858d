// The lines in which the workload's own benchmark sums up the workers of one cache: the
// JSON object of `bench_init`, and the CSV line of the later one.
#pragma once

#include <optional>
#include <string_view>

#include "evidence/records.h"

namespace rollcall::importer {

// A benchmark line is some 300 bytes; longer ones are not looked at.
inline constexpr size_t kMaxBenchLineBytes = 4096;

// {"n":2,"ok":2,"failed":0,"wall_ms":4262.41,…}: n, ok, failed and wall_ms must be there;
// keys that are not known are ignored, since other versions print others.
std::optional<evidence::Benchmark> parse_bench_json(std::string_view line);

// CSV,label,processes,ok,failed,wall_ms,min,p50,mean,p95,p99,max,mean_cpu_ms,mean_wait_ms
std::optional<evidence::Benchmark> parse_bench_csv(std::string_view line);

}  // namespace rollcall::importer
