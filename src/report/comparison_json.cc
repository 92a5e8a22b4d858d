// The comparison for programs: null where nothing is known.
#include <nlohmann/json.hpp>

#include "report/comparison.h"
#include "report/json_values.h"

namespace rollcall::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const analysis::ConditionName& name) {
  Json json;
  json["topology"] = name.topology.text();
  json["arm"] = name.arm;
  json["workload"] = to_text(name.workload);
  json["hold"] = to_text(name.hold);
  return json;
}

// Verdict, reason and how many runs a side would tell.
template <typename Row>
void add_verdict(Json& json, const Row& row) {
  json["ci95"] = interval_json(row.ci95);
  json["verdict"] = to_text(row.verdict);
  json["reason"] = row.reason == analysis::UnclearReason::kNone ? Json(nullptr) : Json(to_text(row.reason));
  const bool advisable = row.runs_needed && *row.runs_needed <= analysis::kMostRunsAdvised;
  json["runs_needed"] = advisable ? Json(*row.runs_needed) : Json(nullptr);
}

Json json_of(const analysis::MeasureComparison& m) {
  Json json;
  json["measure"] = m.measure;
  json["a"] = sample_json(m.a);
  json["b"] = sample_json(m.b);
  json["ratio"] = or_null(m.ratio);
  add_verdict(json, m);
  return json;
}

Json json_of(const analysis::ClassComparison& one) {
  Json json;
  json["class"] = to_text(one.value);
  json["a"] = Json{{"count", one.count_a}, {"workers", one.workers_a}};
  json["b"] = Json{{"count", one.count_b}, {"workers", one.workers_b}};
  json["difference"] = or_null(one.difference);
  add_verdict(json, one);
  return json;
}

Json json_of(const analysis::ConditionComparison& c) {
  Json json = json_of(c.a);
  if (!(c.a == c.b)) json["b_is"] = json_of(c.b);
  json["runs"] = Json{
      {"valid_a", c.valid_a}, {"invalid_a", c.invalid_a}, {"valid_b", c.valid_b}, {"invalid_b", c.invalid_b}};
  json["compared"] = c.compared();
  json["measures"] = Json::array();
  for (const auto& m : c.measures) json["measures"].push_back(json_of(m));
  json["classes"] = Json::array();
  for (const auto& one : c.classes) json["classes"].push_back(json_of(one));
  json["wrong_identities"] = Json{{"a", c.wrong_a.wrong},
                                  {"a_of", c.wrong_a.workers},
                                  {"b", c.wrong_b.wrong},
                                  {"b_of", c.wrong_b.workers}};
  return json;
}

}  // namespace

std::string comparison_json(const analysis::Comparison& comparison) {
  Json json;
  json["a"] = comparison.name_a;
  json["b"] = comparison.name_b;
  json["same_within"] = analysis::kSameWithin;
  json["same_share_within"] = analysis::kSameShareWithin;
  json["allowed"] = Json::array();
  for (const auto& [field, a, b] : comparison.allowed) {
    json["allowed"].push_back(Json{{"field", field}, {"a", a}, {"b", b}});
  }
  json["not_known"] = comparison.not_known;
  json["complete"] = comparison.complete();
  json["conditions"] = Json::array();
  for (const auto& c : comparison.conditions) json["conditions"].push_back(json_of(c));
  json["only_in_a"] = Json::array();
  for (const auto& name : comparison.only_in_a) json["only_in_a"].push_back(json_of(name));
  json["only_in_b"] = Json::array();
  for (const auto& name : comparison.only_in_b) json["only_in_b"].push_back(json_of(name));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rollcall::report
