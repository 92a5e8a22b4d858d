// See repetitions.h.
#include "report/repetitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text_table.h"

namespace rollcall::report {
namespace {

using Json = nlohmann::ordered_json;

// Four significant digits from a nanosecond to an hour, in milliseconds.
std::string number_text(double value) {
  const double size = value < 0 ? -value : value;
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 6;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::vector<RepeatedKey> repeated_keys(const std::vector<Json>& documents) {
  std::vector<RepeatedKey> keys;
  if (documents.empty()) return keys;
  for (const auto& [key, first] : documents[0].items()) {
    const bool everywhere =
        std::all_of(documents.begin(), documents.end(), [&, name = key](const Json& document) {
          return document.contains(name) && document[name].is_number();
        });
    if (!everywhere) continue;
    std::vector<double> values;
    for (const Json& document : documents) values.push_back(document[key].get<double>());
    keys.push_back({key, analysis::mean_sd(values)});
  }
  return keys;
}

std::string repetitions_text(const std::vector<Json>& documents) {
  TextTable table({{"", Align::kLeft}, {"mean"}, {"SD"}, {"n"}});
  for (const auto& [key, value] : repeated_keys(documents)) {
    table.add({printable(key, 40), value.mean ? number_text(*value.mean) : "",
               value.sd ? "± " + number_text(*value.sd) : "", fmt::format("({})", value.n)});
  }
  return table.text();
}

std::string repetitions_json(const std::vector<Json>& documents) {
  Json json;
  json["repetitions"] = documents;
  json["mean"] = Json::object();
  json["sd"] = Json::object();
  for (const auto& [key, value] : repeated_keys(documents)) {
    json["mean"][key] = value.mean ? Json(*value.mean) : Json(nullptr);
    json["sd"][key] = value.sd ? Json(*value.sd) : Json(nullptr);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rollcall::report
