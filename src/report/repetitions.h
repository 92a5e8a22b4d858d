// The answers of repeated measurements, side by side: mean and sample standard
// deviation of each key that every one of them has as a number.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/statistics.h"

namespace rollcall::report {

struct RepeatedKey {
  std::string key;  // with its unit: "ctxRetain_ms"
  analysis::MeanSd value;
};
// In the order of the first document. A key that some document lacks, or has as
// something else than a number, is left out: its mean would be of other repetitions.
std::vector<RepeatedKey> repeated_keys(const std::vector<nlohmann::ordered_json>& documents);

// "mean ± SD (n)" for each; without SD below n = 2.
std::string repetitions_text(const std::vector<nlohmann::ordered_json>& documents);
// {"repetitions": […], "mean": {…}, "sd": {…}}; an SD that does not exist is null.
std::string repetitions_json(const std::vector<nlohmann::ordered_json>& documents);

}  // namespace rollcall::report
