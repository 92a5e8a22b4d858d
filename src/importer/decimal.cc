// See decimal.h.
#include "importer/decimal.h"

#include <algorithm>
#include <charconv>

namespace rollcall::importer {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<int64_t> parse_count(std::string_view text, int64_t max) {
  if (!all_digits(text)) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > max) return std::nullopt;
  return value;
}

std::optional<Decimal> parse_decimal(std::string_view text, int64_t per_ns) {
  const size_t point = text.find('.');
  const auto whole = parse_count(text.substr(0, point), kMaxTimeNs / per_ns);
  if (!whole) return std::nullopt;
  Decimal decimal{*whole * per_ns, per_ns};
  if (point == std::string_view::npos) return decimal;
  const std::string_view digits = text.substr(point + 1);
  if (!all_digits(digits)) return std::nullopt;
  int64_t unit = per_ns;
  bool rounded = false;
  for (const char c : digits) {
    const int digit = c - '0';
    if (unit >= 10) {
      unit /= 10;
      decimal.ns += digit * unit;
    } else if (!rounded) {  // the first digit below the nanosecond decides
      decimal.ns += digit >= 5 ? 1 : 0;
      rounded = true;
    }
  }
  decimal.unit_ns = unit;
  if (decimal.ns > kMaxTimeNs) return std::nullopt;
  return decimal;
}

}  // namespace rollcall::importer
