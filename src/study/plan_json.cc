// plan.json: the frozen plan. Keys in a fixed order, so that the same plan gives
// the same bytes and so the same hash.
#include <nlohmann/json.hpp>

#include "study/plan.h"

namespace rollcall::study {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

template <typename Enum>
Enum word(const Json& json, const char* key) {
  const auto text = json.at(key).get<std::string>();
  const auto value = evidence::from_text<Enum>(text);
  if (!value) throw std::invalid_argument(std::string("unknown value '") + text + "' of '" + key + "'");
  return *value;
}

Order order(const std::string& text) {
  for (const Order value : {Order::kInterleaved, Order::kBlocked}) {
    if (text == to_text(value)) return value;
  }
  throw std::invalid_argument("unknown value '" + text + "' of 'order'");
}

IdentitySourceKind identity(const std::string& text) {
  using enum IdentitySourceKind;
  for (const IdentitySourceKind kind : {kNone, kAuto, kRollcall, kHamiCore, kLog}) {
    if (text == to_text(kind)) return kind;
  }
  throw std::invalid_argument("unknown value '" + text + "' of 'identity'");
}

Arm read_arm(const Json& json) {
  Arm arm;
  arm.name = json.at("name").get<std::string>();
  arm.preload = json.at("preload").get<std::string>();
  arm.preload_sha256 = json.at("preload_sha256").get<std::string>();
  for (const Json& pair : json.at("env")) {
    arm.environment.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  }
  arm.cache_variable = json.at("cache_env").get<std::string>();
  arm.identity = identity(json.at("identity").get<std::string>());
  arm.identity_kind = word<evidence::IdentityKind>(json, "identity_kind");
  arm.log = {json.value("log_assigned", ""), json.value("log_failed", "")};
  return arm;
}

Plan from_json(const Json& json) {
  if (json.at("format").get<int>() != kFormat) throw std::invalid_argument("unknown format");
  Plan plan;
  for (const Json& text : json.at("topologies")) {
    const auto topology = evidence::Topology::parse(text.get<std::string>());
    if (!topology) throw std::invalid_argument(topology.error().line());
    plan.topologies.push_back(*topology);
  }
  plan.arms = json.at("arms").get<std::vector<std::string>>();
  plan.runs = json.at("runs").get<int>();
  plan.order = order(json.at("order").get<std::string>());
  plan.seed = json.at("seed").get<uint64_t>();
  plan.node = word<evidence::NodeKind>(json, "node");
  plan.workload = word<evidence::Workload>(json, "workload");
  plan.hold = word<evidence::Hold>(json, "hold");
  if (json.contains("isolation")) plan.isolation = word<evidence::Isolation>(json, "isolation");
  plan.broker = json.value("broker", false);
  plan.view = word<evidence::NvmlView>(json, "view");
  for (const Json& arm : json.value("shims", Json::array())) plan.shims.push_back(read_arm(arm));
  plan.neighbours = json.value("neighbours", 0);
  plan.devices = json.value("devices", std::vector<std::string>());
  plan.gpus = json.at("gpus").get<int>();
  plan.time_scale = json.at("time_scale").get<double>();
  plan.worker_timeout_s = json.at("worker_timeout_s").get<double>();
  plan.run_timeout_s = json.at("run_timeout_s").get<double>();
  plan.lock_timeout_s = json.at("lock_timeout_s").get<double>();
  plan.profile_name = json.at("profile").at("name").get<std::string>();
  plan.profile_toml = json.at("profile").at("toml").get<std::string>();
  return plan;
}

// Lists what an arm of the user's is, whole, so that a resumed run needs no plan file.
Json print_arm(const Arm& arm) {
  Json json;
  json["name"] = arm.name;
  json["preload"] = arm.preload;
  json["preload_sha256"] = arm.preload_sha256;
  json["env"] = Json::array();
  for (const auto& [name, value] : arm.environment) json["env"].push_back(Json::array({name, value}));
  json["cache_env"] = arm.cache_variable;
  json["identity"] = to_text(arm.identity);
  json["identity_kind"] = evidence::to_text(arm.identity_kind);
  if (arm.identity == IdentitySourceKind::kLog) {
    json["log_assigned"] = arm.log.assigned;
    json["log_failed"] = arm.log.failed;
  }
  return json;
}

}  // namespace

std::string print_plan(const Plan& plan) {
  Json json;
  json["format"] = kFormat;
  json["topologies"] = Json::array();
  for (const evidence::Topology& topology : plan.topologies) json["topologies"].push_back(topology.text());
  json["arms"] = plan.arms;
  if (!plan.shims.empty()) {
    json["shims"] = Json::array();
    for (const Arm& arm : plan.shims) json["shims"].push_back(print_arm(arm));
  }
  json["runs"] = plan.runs;
  json["order"] = to_text(plan.order);
  json["seed"] = plan.seed;
  json["node"] = evidence::to_text(plan.node);
  json["workload"] = evidence::to_text(plan.workload);
  json["hold"] = evidence::to_text(plan.hold);
  if (plan.isolation != evidence::Isolation::kNone) json["isolation"] = evidence::to_text(plan.isolation);
  if (plan.broker) json["broker"] = true;
  json["view"] = evidence::to_text(plan.view);
  if (plan.neighbours > 0) json["neighbours"] = plan.neighbours;
  if (!plan.devices.empty()) json["devices"] = plan.devices;
  json["gpus"] = plan.gpus;
  json["time_scale"] = plan.time_scale;
  json["worker_timeout_s"] = plan.worker_timeout_s;
  json["run_timeout_s"] = plan.run_timeout_s;
  json["lock_timeout_s"] = plan.lock_timeout_s;
  json["profile"]["name"] = plan.profile_name;
  json["profile"]["toml"] = plan.profile_toml;
  return json.dump(2) + "\n";
}

base::Result<Plan> parse_plan(const std::string& text, const std::string& where) {
  try {
    return from_json(Json::parse(text));
  } catch (const std::exception& error) {
    return base::failure(where, std::string("not a plan that this version wrote: ") + error.what());
  }
}

}  // namespace rollcall::study
