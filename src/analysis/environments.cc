// See environments.h. What is not recorded on one side only is a difference: that both
// were alike is then not known.
#include "analysis/environments.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "evidence/sha256.h"

namespace rollcall::analysis {
namespace {

using evidence::NodeKind;
using evidence::RunRecord;
using Json = nlohmann::json;
// All values of a field; an empty one stands for a record that does not say it.
using Values = std::set<std::string>;

constexpr const char* kNotKnown = "not known";
constexpr const char* kNothing = "none";

std::string or_not_applicable(const RunRecord& record, NodeKind kind, std::string value) {
  return record.node == kind || record.node == NodeKind::kUnknown ? std::move(value) : std::string(kNothing);
}

std::string scale_text(const RunRecord& record) {
  return record.time_scale ? fmt::to_string(*record.time_scale) : std::string();
}

template <typename Function>
Values over_runs(const ComparedEvidence& evidence, Function value) {
  Values values;
  for (const evidence::Run& run : evidence.runs) values.insert(value(run.record));
  return values;
}

// A scalar of a document, as text; empty where it is not there or null.
std::string member(const std::string& text, const char* pointer) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return {};
  const Json::json_pointer at(pointer);
  if (!document.contains(at)) return {};
  const Json& value = document[at];
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Values over_environments(const ComparedEvidence& evidence, const char* pointer) {
  Values values;
  for (const std::string& text : evidence.environment_jsons) values.insert(member(text, pointer));
  if (values.empty()) values.insert(std::string());
  return values;
}

// The name alone would hide that a file of the same name says something else now.
Values profiles(const ComparedEvidence& evidence) {
  const std::string content = member(evidence.plan_json, "/profile/toml");
  const auto hash = content.empty() ? base::Result<std::string>() : evidence::sha256_hex(content);
  return over_runs(evidence, [&](const RunRecord& r) {
    std::string name = r.profile;
    if (!name.empty() && hash && !hash->empty()) name += fmt::format(" (SHA-256 {}…)", hash->substr(0, 12));
    return or_not_applicable(r, NodeKind::kSimulated, std::move(name));
  });
}

Values gpus(const ComparedEvidence& evidence) {
  return over_runs(evidence, [&](const RunRecord& r) {
    return or_not_applicable(r, NodeKind::kSimulated, member(evidence.plan_json, "/gpus"));
  });
}

struct Field {
  const char* name;
  std::function<Values(const ComparedEvidence&)> values;
};

template <typename Function>
Field of_runs(const char* name, Function value) {
  return {name, [value](const ComparedEvidence& evidence) { return over_runs(evidence, value); }};
}
Field of_environment(const char* name, const char* pointer) {
  return {name, [pointer](const ComparedEvidence& evidence) { return over_environments(evidence, pointer); }};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      of_runs("node",
              [](const RunRecord& r) {
                return r.node == NodeKind::kUnknown ? std::string() : std::string(to_text(r.node));
              }),
      of_runs("gpu", [](const RunRecord& r) { return or_not_applicable(r, NodeKind::kReal, r.device_name); }),
      of_runs("driver",
              [](const RunRecord& r) { return or_not_applicable(r, NodeKind::kReal, r.driver_version); }),
      of_runs("view",
              [](const RunRecord& r) {
                return r.view == evidence::NvmlView::kUnknown ? std::string() : std::string(to_text(r.view));
              }),
      {"profile", profiles},
      of_runs("time_scale",
              [](const RunRecord& r) { return or_not_applicable(r, NodeKind::kSimulated, scale_text(r)); }),
      {"gpus", gpus},
      of_runs("isolation", [](const RunRecord& r) { return std::string(to_text(r.isolation)); }),
      of_runs("broker", [](const RunRecord& r) { return std::string(r.broker ? "yes" : kNothing); }),
      of_runs("workload", [](const RunRecord& r) { return std::string(to_text(r.workload)); }),
      of_runs("hold", [](const RunRecord& r) { return std::string(to_text(r.hold)); }),
      of_runs("neighbours", [](const RunRecord& r) { return fmt::to_string(r.neighbours); }),
      of_runs("devices",
              [](const RunRecord& r) {
                return r.devices.empty() ? std::string(kNothing)
                                         : fmt::format("{}", fmt::join(r.devices, "/"));
              }),
      of_runs("truth", [](const RunRecord& r) { return r.truth; }),
      of_environment("cpu", "/machine/cpu"),
      of_environment("cpus", "/machine/cpus"),
      of_environment("kernel", "/machine/kernel"),
  };
  return kFields;
}

std::string text_of(const Values& values) {
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(value.empty() ? kNotKnown : value);
  return fmt::format("{}", fmt::join(texts, " and "));
}

}  // namespace

const std::vector<std::string>& environment_fields() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Field& field : fields()) names.emplace_back(field.name);
    return names;
  }();
  return kNames;
}

EnvironmentsCompared compare_environments(const ComparedEvidence& a, const ComparedEvidence& b) {
  EnvironmentsCompared result;
  for (const Field& field : fields()) {
    const Values in_a = field.values(a);
    const Values in_b = field.values(b);
    if (in_a != in_b) result.differences.push_back({field.name, text_of(in_a), text_of(in_b)});
    if (in_a.contains("") && in_b.contains("")) result.not_known.emplace_back(field.name);
  }
  return result;
}

base::Result<std::set<std::string>> parse_allowed(const std::vector<std::string>& names) {
  const auto& known = environment_fields();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = base::did_you_mean(name, known);
    return base::usage_error(
        "--allow", fmt::format("unknown field '{}'", name),
        meant.empty() ? fmt::format("expected one of {}", fmt::join(known, ", ")) : meant);
  }
  return std::set<std::string>(names.begin(), names.end());
}

base::Result<void> check_comparable(const EnvironmentsCompared& compared,
                                    const std::set<std::string>& allowed) {
  std::vector<std::string> found;
  std::vector<std::string> options;
  for (const auto& [field, a, b] : compared.differences) {
    if (allowed.contains(field)) continue;
    found.push_back(fmt::format("{}: A has {}, B has {}", field, a, b));
    options.push_back("--allow " + field);
  }
  if (found.empty()) return {};
  return base::usage_error("", fmt::format("the environments differ: {}", fmt::join(found, "; ")),
                           fmt::format("to compare all the same: {}", fmt::join(options, " ")));
}

}  // namespace rollcall::analysis
