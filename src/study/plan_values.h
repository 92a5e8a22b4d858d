// What the parts of resolving a plan share: one value checked, and told where it
// stands.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"

namespace rollcall::study {

template <typename Value>
base::Result<Value> pick(const std::optional<std::string>& said, const std::string& option, Value otherwise,
                         const std::vector<Value>& valid) {
  if (!said) return otherwise;
  std::vector<std::string> names;
  for (const Value value : valid) {
    if (to_text(value) == *said) return value;
    names.emplace_back(to_text(value));
  }
  return base::usage_error(option,
                           fmt::format("unknown value '{}'; expected {}", *said, fmt::join(names, " or ")),
                           base::did_you_mean(*said, names));
}

inline base::Result<int64_t> whole_number(const std::optional<int64_t>& said, const std::string& option,
                                          int64_t otherwise, int64_t least, int64_t most) {
  const int64_t value = said.value_or(otherwise);
  if (value < least || value > most) {
    return base::usage_error(option, fmt::format("expected {} to {}, found {}", least, most, value));
  }
  return value;
}

inline base::Result<double> positive(const std::optional<double>& said, const std::string& option,
                                     double otherwise, double most) {
  const double value = said.value_or(otherwise);
  if (!std::isfinite(value) || value <= 0 || value > most) {
    return base::usage_error(option,
                             fmt::format("expected a number above 0 and up to {}, found {}", most, value));
  }
  return value;
}

// The same error, told where the user wrote what is wrong.
inline tl::unexpected<base::Error> at(const std::string& place, base::Error error) {
  error.where = place;
  return tl::unexpected(std::move(error));
}

}  // namespace rollcall::study
