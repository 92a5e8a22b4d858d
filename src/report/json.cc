// The summary for programs. The same facts as the report for people, with
// null where that says "no discovery" or "not known".
#include <nlohmann/json.hpp>

#include "report/json_values.h"
#include "report/terminal.h"

namespace rollcall::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(analysis::IntervalMethod method) {
  return method == analysis::IntervalMethod::kNone ? Json(nullptr) : Json(to_text(method));
}

Json json_of(const analysis::Estimate& value) {
  Json json = sample_json(value);
  json["ci95"] = interval_json(value.ci95);
  json["ci95_method"] = json_of(value.method);
  json["few"] = value.few();
  return json;
}

// A row of statistics.csv, with the values that it was made of.
Json json_of(const analysis::MeasureRow& row) {
  Json json;
  json["topology"] = row.topology.text();
  json["arm"] = row.arm;
  json["workload"] = to_text(row.workload);
  json["hold"] = to_text(row.hold);
  json["measure"] = row.measure;
  json.update(json_of(row.estimate));
  json["ratio_to_native"] = or_null(row.to_native.value);
  json["ratio_ci95"] = interval_json(row.to_native.ci95);
  json["ratio_ci95_method"] = json_of(row.to_native.method);
  json["outliers"] = Json::array();
  for (const auto& outlier : row.outliers) json["outliers"].push_back(outlier.run_id);
  json["values"] = Json::array();
  for (const auto& [run_id, value] : row.values) {
    json["values"].push_back(Json{{"run_id", run_id}, {"value", value}});
  }
  return json;
}

Json json_of(const analysis::NumberKnowledge& number) {
  Json json;
  json["right"] = number.right;
  json["wrong"] = number.wrong;
  json["unresolved"] = number.unresolved;
  json["missing"] = number.missing;
  json["tiers"] = Json(number.tiers);
  json["reasons"] = Json(number.reasons);
  return json;
}

Json json_of(const analysis::AddedTime& time) {
  constexpr double kNsPerMs = 1e6;
  const auto ms = [](std::optional<int64_t> ns) {
    return ns ? Json(static_cast<double>(*ns) / kNsPerMs) : Json(nullptr);
  };
  return Json{{"n", time.n}, {"p50", ms(time.p50_ns)}, {"p99", ms(time.p99_ns)}};
}

Json json_of(const analysis::Condition& c) {
  Json json;
  json["topology"] = c.topology.text();
  json["arm"] = c.arm;
  json["workload"] = to_text(c.workload);
  json["hold"] = to_text(c.hold);
  json["valid_runs"] = c.valid_runs;
  json["invalid_runs"] = c.invalid_runs;
  json["workers"] = c.workers;
  json["classes"] = nullptr;
  if (c.discovers) {
    Json classes;
    for (const analysis::Class value : analysis::kClasses) {
      classes[std::string(to_text(value))] = c.classes.of(value);
    }
    json["classes"] = std::move(classes);
  }
  json["reasons"] = Json(c.reasons);
  json["knowledge"] = nullptr;
  if (c.knowledge) {
    json["knowledge"] = Json{{"host", json_of(c.knowledge->host)}, {"nvml", json_of(c.knowledge->nvml)}};
  }
  json["added_ms"] = json_of(c.added);
  json["context_added_ms"] = json_of(c.context_added);
  json["cuinit_failed"] = c.cuinit_failed;
  json["external_wall_s"] = json_of(c.external_wall_s);
  json["span_s"] = json_of(c.span_s);
  json["ratio_to_native"] = or_null(c.ratio_to_native.value);
  json["ratio_ci95"] = interval_json(c.ratio_to_native.ci95);
  json["ratio_ci95_method"] = json_of(c.ratio_to_native.method);
  return json;
}

Json json_of(const analysis::Setting& setting) {
  Json json;
  json["node"] = to_text(setting.node);
  json["profile"] = setting.profile;
  json["device_name"] = setting.device_name;
  json["driver_version"] = setting.driver_version;
  json["time_scale"] = or_null(setting.time_scale);
  json["isolation"] = to_text(setting.isolation);
  json["nvml_view"] = to_text(setting.view);
  json["broker"] = setting.broker;
  json["neighbours"] = setting.neighbours;
  json["devices"] = setting.devices;
  json["truth"] = setting.truth;
  return json;
}

std::string_view text_of(analysis::Control control) {
  switch (control) {
    case analysis::Control::kAbsent:
      return "absent";
    case analysis::Control::kNotVisible:
      return "not_visible";
    case analysis::Control::kVisible:
      return "visible";
  }
  return "absent";
}

}  // namespace

std::string json_report(const analysis::ExperimentSummary& summary) {
  Json json;
  json["runs"] = summary.runs;
  json["valid_runs"] = summary.runs - static_cast<int>(summary.invalid.size());
  json["control"] = text_of(summary.control);
  json["settings"] = Json::array();
  for (const auto& setting : summary.settings) json["settings"].push_back(json_of(setting));
  json["conditions"] = Json::array();
  for (const auto& condition : summary.conditions) json["conditions"].push_back(json_of(condition));
  json["statistics"] = Json::array();
  for (const auto& row : summary.measures) json["statistics"].push_back(json_of(row));
  json["invalid"] = Json::array();
  for (const auto& [id, reasons] : summary.invalid) {
    json["invalid"].push_back(Json{{"run_id", id}, {"reasons", reasons}});
  }
  json["findings"] = findings(summary);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rollcall::report
