// How values become JSON in every document for programs: null where nothing is known,
// an interval as [low, high].
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/estimate.h"

namespace rollcall::report {

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json interval_json(const std::optional<analysis::Interval>& interval) {
  return interval ? nlohmann::ordered_json{interval->low, interval->high} : nlohmann::ordered_json(nullptr);
}

// n, mean, sd, median.
inline nlohmann::ordered_json sample_json(const analysis::Estimate& value) {
  nlohmann::ordered_json json;
  json["n"] = value.n;
  json["mean"] = or_null(value.mean);
  json["sd"] = or_null(value.sd);
  json["median"] = or_null(value.median);
  return json;
}

}  // namespace rollcall::report
