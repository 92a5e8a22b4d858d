// The plan file: TOML, read with toml++, which knows where everything stands.
// Two kinds of tables: [study], whose keys are the options' names ('-' or '_' alike),
// plural where an option can be repeated; and [arm.NAME], which defines an arm.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/nearest.h"
#include "base/toml.h"
#include "study/plan.h"

namespace rollcall::study {
namespace {

std::string position(const std::string& where, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", where, source.begin.line, source.begin.column);
}

struct Key {
  const char* expected;
  // Stores the value; false if it has another type.
  std::function<bool(const toml::node&, PlanRequest&)> store;
};

template <typename Toml, typename Member>
Key scalar(const char* expected, Member PlanRequest::*member) {
  return {expected, [member](const toml::node& node, PlanRequest& request) {
            const auto value = node.value_exact<Toml>();
            if (value) request.*member = *value;
            return value.has_value();
          }};
}

Key number(std::optional<double> PlanRequest::*member) {
  return {"a number", [member](const toml::node& node, PlanRequest& request) {
            if (!node.is_number()) return false;
            request.*member = node.value<double>();
            return true;
          }};
}

Key strings(std::optional<std::vector<std::string>> PlanRequest::*member) {
  return {"a list of strings", [member](const toml::node& node, PlanRequest& request) {
            const toml::array* array = node.as_array();
            if (array == nullptr) return false;
            std::vector<std::string> values;
            for (const toml::node& element : *array) {
              const auto value = element.value_exact<std::string>();
              if (!value) return false;
              values.push_back(*value);
            }
            request.*member = std::move(values);
            return true;
          }};
}

const std::map<std::string, Key>& keys() {
  static const std::map<std::string, Key> table = {
      {"topologies", strings(&PlanRequest::topologies)},
      {"arms", strings(&PlanRequest::arms)},
      {"runs", scalar<int64_t>("a whole number", &PlanRequest::runs)},
      {"node", scalar<std::string>("a string", &PlanRequest::node)},
      {"profile", scalar<std::string>("a string", &PlanRequest::profile)},
      {"time_scale", number(&PlanRequest::time_scale)},
      {"workload", scalar<std::string>("a string", &PlanRequest::workload)},
      {"hold", scalar<std::string>("a string", &PlanRequest::hold)},
      {"broker", scalar<bool>("true or false", &PlanRequest::broker)},
      {"isolate", scalar<std::string>("a string", &PlanRequest::isolate)},
      {"view", scalar<std::string>("a string", &PlanRequest::view)},
      {"order", scalar<std::string>("a string", &PlanRequest::order)},
      {"seed", scalar<int64_t>("a whole number", &PlanRequest::seed)},
      {"neighbours", scalar<int64_t>("a whole number", &PlanRequest::neighbours)},
      {"devices", scalar<std::string>("a string", &PlanRequest::devices)},
      {"gpus", scalar<int64_t>("a whole number", &PlanRequest::gpus)},
      {"worker_timeout", number(&PlanRequest::worker_timeout_s)},
      {"run_timeout", number(&PlanRequest::run_timeout_s)},
  };
  return table;
}

// The option that a key stands for: "time_scale" is --time-scale, "arms" is --arm.
std::string option_of(const std::string& key) {
  if (key == "topologies") return "--topology";
  if (key == "arms") return "--arm";
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void note_places(const std::string& option, const toml::node& node, const std::string& where,
                 PlanRequest& request) {
  request.places[option] = position(where, node.source());
  const toml::array* array = node.as_array();
  for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
    request.places[fmt::format("{}#{}", option, i)] = position(where, array->get(i)->source());
  }
}

std::string normalised(std::string_view key) {
  std::string name(key);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

base::Result<void> read_study(const toml::table& study, const std::string& where, PlanRequest& request) {
  for (const auto& [key, node] : study) {
    const std::string at = position(where, key.source());
    const auto found = keys().find(normalised(key.str()));
    if (found == keys().end()) {
      std::vector<std::string> names;
      for (const auto& [name, unused] : keys()) names.push_back(name);
      return base::usage_error(at, fmt::format("unknown key '{}' in [study]", std::string(key.str())),
                               base::did_you_mean(normalised(key.str()), names));
    }
    if (request.places.count(option_of(found->first)) != 0) {
      return base::usage_error(at, fmt::format("'{}' is given twice", found->first),
                               "'-' and '_' are the same in a key");
    }
    if (!found->second.store(node, request)) {
      return base::usage_error(
          position(where, node.source()),
          fmt::format("'{}' must be {}", std::string(key.str()), found->second.expected));
    }
    note_places(option_of(found->first), node, where, request);
  }
  return {};
}

// The keys of an [arm.NAME] that hold one string each.
const std::map<std::string, std::optional<std::string> ArmRequest::*>& arm_texts() {
  static const std::map<std::string, std::optional<std::string> ArmRequest::*> table = {
      {"preload", &ArmRequest::preload},           {"cache_env", &ArmRequest::cache_env},
      {"identity", &ArmRequest::identity},         {"identity_kind", &ArmRequest::identity_kind},
      {"log_assigned", &ArmRequest::log_assigned}, {"log_failed", &ArmRequest::log_failed},
  };
  return table;
}

base::Result<void> read_variables(const toml::node& node, const std::string& where, ArmRequest& arm) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    return base::usage_error(position(where, node.source()), "'env' must be a table of strings",
                             "for example env = { NAME = \"value\" }");
  }
  for (const auto& [name, value] : *table) {
    const auto text = value.value_exact<std::string>();
    if (!text) {
      return base::usage_error(position(where, value.source()),
                               fmt::format("the variable '{}' must be a string", std::string(name.str())));
    }
    arm.environment.emplace_back(name.str(), *text);
    arm.places["env." + std::string(name.str())] = position(where, value.source());
  }
  return {};
}

base::Result<ArmRequest> read_arm(const std::string& name, const toml::table& table, const std::string& where,
                                  const std::string& at) {
  ArmRequest arm;
  arm.name = name;
  arm.folder = std::filesystem::path(where).parent_path();
  arm.places[""] = at;
  for (const auto& [key, node] : table) {
    const std::string word = normalised(key.str());
    arm.places[word] = position(where, node.source());
    if (word == "env") {
      if (auto read = read_variables(node, where, arm); !read) return tl::unexpected(read.error());
      continue;
    }
    const auto found = arm_texts().find(word);
    if (found == arm_texts().end()) {
      std::vector<std::string> names = {"env"};
      for (const auto& [known, unused] : arm_texts()) names.push_back(known);
      return base::usage_error(position(where, key.source()),
                               fmt::format("unknown key '{}' in [arm.{}]", std::string(key.str()), name),
                               base::did_you_mean(word, names));
    }
    const auto text = node.value_exact<std::string>();
    if (!text) return base::usage_error(arm.places[word], fmt::format("'{}' must be a string", word));
    arm.*found->second = *text;
  }
  return arm;
}

base::Result<void> read_arms(const toml::node& node, const std::string& where, const std::string& at,
                             PlanRequest& request) {
  const toml::table* arms = node.as_table();
  if (arms == nullptr) return base::usage_error(at, "'arm' must be a table", "write [arm.NAME]");
  for (const auto& [name, value] : *arms) {
    const std::string here = position(where, name.source());
    const toml::table* table = value.as_table();
    if (table == nullptr) {
      return base::usage_error(here,
                               fmt::format("'{}' stands outside an arm's table", std::string(name.str())),
                               "put it under a line that says [arm.NAME]");
    }
    auto arm = read_arm(std::string(name.str()), *table, where, here);
    if (!arm) return tl::unexpected(arm.error());
    request.defined_arms.push_back(std::move(*arm));
  }
  return {};
}

}  // namespace

base::Result<PlanRequest> parse_plan_file(const std::string& text, const std::string& where) {
  const toml::parse_result parsed = toml::parse(text, where);
  if (!parsed) {
    return base::usage_error(position(where, parsed.error().source()),
                             std::string(parsed.error().description()),
                             "plan files are TOML; docs/study.md shows one");
  }
  PlanRequest request;
  bool found = false;
  for (const auto& [key, node] : parsed.table()) {
    const std::string at = position(where, key.source());
    if (key.str() == "arm") {
      if (auto read = read_arms(node, where, at, request); !read) return tl::unexpected(read.error());
      continue;
    }
    if (keys().count(normalised(key.str())) != 0) {
      return base::usage_error(at, fmt::format("'{}' stands outside [study]", std::string(key.str())),
                               "put it under a line that says [study]");
    }
    if (key.str() != "study") {
      return base::usage_error(at, fmt::format("unknown key '{}'", std::string(key.str())),
                               base::did_you_mean(std::string(key.str()), {"study", "arm"}));
    }
    const toml::table* study = node.as_table();
    if (study == nullptr) return base::usage_error(at, "'study' must be a table", "write [study]");
    const auto read = read_study(*study, where, request);
    if (!read) return tl::unexpected(read.error());
    found = true;
  }
  if (!found) return base::usage_error(where, "no [study] table", "docs/study.md shows a plan file");
  return request;
}

}  // namespace rollcall::study
