// Decimal numbers as people and programs print them, as whole nanoseconds. Never
// through floating point: what is compared with a printed number must be what was printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rollcall::importer {

// Longest time that is taken for one: a week's deadline and a day.
inline constexpr int64_t kMaxTimeNs = int64_t{8} * 24 * 3600 * 1'000'000'000;

struct Decimal {
  int64_t ns = 0;       // rounded half up below the nanosecond
  int64_t unit_ns = 1;  // what 1 in its last digit is worth; at least 1
};
// Digits, and optionally a point and more digits; nothing else. `per_ns` is what 1 is worth:
// 1,000,000 for milliseconds. Unset too for more than kMaxTimeNs.
std::optional<Decimal> parse_decimal(std::string_view text, int64_t per_ns);

// A whole number without sign, blank or anything else.
std::optional<int64_t> parse_count(std::string_view text, int64_t max);

}  // namespace rollcall::importer
