// Only one spelling of a topology is accepted, so that its text can serve as
// its identity in folder names and tables: "01x5" and "1x5" must not be two
// conditions.
#include "evidence/topology.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace rollcall::evidence {
namespace {

constexpr size_t kShownBytes = 40;  // of a wrong text, so that the error stays a line
constexpr size_t kMaxDigits = 9;    // more cannot be a valid number, and fewer cannot overflow a product

base::Result<Topology> malformed(std::string_view text) {
  return base::usage_error(
      fmt::format("topology '{}{}'", text.substr(0, kShownBytes), text.size() > kShownBytes ? "…" : ""),
      "expected CACHESxWORKERS_PER_CACHE, two whole numbers of at least 1",
      "write for example 1x250 or 50x5");
}

std::optional<int64_t> parse_count(std::string_view digits) {
  if (digits.empty() || digits.size() > kMaxDigits || digits.front() == '0') return std::nullopt;
  int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

base::Result<Topology> Topology::parse(std::string_view text) {
  const size_t cross = text.find('x');
  if (cross == std::string_view::npos) return malformed(text);
  const auto caches = parse_count(text.substr(0, cross));
  const auto workers_per_cache = parse_count(text.substr(cross + 1));
  if (!caches || !workers_per_cache) return malformed(text);
  if (*caches * *workers_per_cache > kMaxWorkers) {
    return base::usage_error(
        fmt::format("topology '{}'", text),
        fmt::format("{} workers; a run has at most {}", *caches * *workers_per_cache, kMaxWorkers),
        "choose fewer caches or fewer workers per cache");
  }
  return Topology(static_cast<int>(*caches), static_cast<int>(*workers_per_cache));
}

std::string Topology::text() const {
  return fmt::format("{}x{}", caches_, workers_per_cache_);
}

}  // namespace rollcall::evidence
