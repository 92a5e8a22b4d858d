// Reads a profile. A key that nobody knows is an error: a mistyped service time
// that is silently left out would give a wrong result that looks right.
#include "simgpu/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/files.h"
#include "base/nearest.h"
#include "base/toml.h"
#include "simgpu/protocol.h"

namespace rollcall::simgpu {
namespace {

constexpr size_t kMaxProfileBytes = 1 << 20;
constexpr size_t kMaxFaults = 4096;
constexpr size_t kMaxTextBytes = 63;  // what a NodeInfo has room for
constexpr size_t kMaxDescriptionBytes = 4096;
constexpr double kMaxCostMs = 3'600'000;
constexpr int64_t kMaxMemoryMib = int64_t{1} << 30;  // 1 PiB
constexpr int64_t kMaxGranularityKib = 1 << 20;
constexpr int64_t kMaxSmallNumber = 1'000'000;

// Reads the keys of one table and remembers the first thing that is wrong, so
// that a profile is read top to bottom without a check after each line.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, const std::string& where,
              base::Result<void>& result)
      : table_(table), name_(std::move(name)), where_(where), result_(result) {}

  void text(const char* key, size_t max_bytes, std::string& value) {
    const toml::node* node = required(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<std::string>();
    if (!found) return fail(*node, quoted(key) + " must be a text");
    if (found->empty() || found->size() > max_bytes) {
      return fail(*node, quoted(key) + " must have 1 to " + std::to_string(max_bytes) + " bytes, found " +
                             std::to_string(found->size()));
    }
    value = *found;
  }

  template <typename Integer>
  void integer(const char* key, int64_t min, int64_t max, Integer& value) {
    const toml::node* node = required(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<int64_t>();
    if (!found || *found < min || *found > max) {
      return fail(*node, quoted(key) + " must be a whole number from " + std::to_string(min) + " to " +
                             std::to_string(max));
    }
    value = static_cast<Integer>(*found);
  }

  // Optional: not there leaves the value as it is.
  void count(const char* key, int max, int& value) {
    if (table_.contains(key)) return integer(key, 1, max, value);
    known(key);
  }

  // Optional: not there means 0.
  void number(const char* key, double max, double& value) {
    const toml::node* node = known(key);
    if (node == nullptr) return;
    const auto found = node->is_number() ? node->value<double>() : std::nullopt;
    if (!found || !std::isfinite(*found) || *found < 0 || *found > max) {
      return fail(*node,
                  quoted(key) + " must be a number from 0 to " + std::to_string(static_cast<int64_t>(max)));
    }
    value = *found;
  }

  // Optional: not there leaves the value as it is.
  void boolean(const char* key, bool& value) {
    const toml::node* node = known(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<bool>();
    if (!found) return fail(*node, quoted(key) + " must be true or false");
    value = *found;
  }

  // Optional: one of two words; the second one sets the value to true.
  void choice(const char* key, const std::string& no, const std::string& yes, bool& value) {
    const toml::node* node = known(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<std::string>();
    if (!found || (*found != no && *found != yes)) {
      return fail(*node, quoted(key) + " must be \"" + no + "\" or \"" + yes + "\"");
    }
    value = *found == yes;
  }

  // Null if it is not there; a wrong type is an error.
  const toml::table* table(const char* key, bool is_required) {
    const toml::node* node = is_required ? required(key) : known(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(*node, quoted(key) + " must be a table, written [" + path(key) + "]");
    return node->as_table();
  }
  const toml::array* tables(const char* key) {
    const toml::node* node = known(key);
    if (node == nullptr) return nullptr;
    const toml::array* array = node->as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>()) {
      fail(*node, quoted(key) + " must be a list of tables, written [[" + path(key) + "]]");
      return nullptr;
    }
    return array;
  }

  void fail(const toml::node& node, const std::string& what, const std::string& advice = {}) {
    fail_at(node.source().begin, what, advice);
  }

  // To be called last: every key that nobody asked for is wrong.
  void finish() {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(keys_.begin(), keys_.end(), name) != keys_.end()) continue;
      fail_at(key.source().begin, "unknown key '" + path(name) + "'", base::did_you_mean(name, keys_));
    }
  }

  [[nodiscard]] std::string path(const std::string& key) const {
    return name_.empty() ? key : name_ + "." + key;
  }

 private:
  [[nodiscard]] std::string quoted(const char* key) const { return "'" + path(key) + "'"; }

  const toml::node* known(const char* key) {
    keys_.emplace_back(key);
    return table_.get(key);
  }
  const toml::node* required(const char* key) {
    const toml::node* node = known(key);
    if (node == nullptr) fail_at(table_.source().begin, "the key " + quoted(key) + " is missing");
    return node;
  }
  void fail_at(const toml::source_position& at, const std::string& what, const std::string& advice = {}) {
    if (!result_) return;
    result_ = base::usage_error(where_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                                what, advice);
  }

  const toml::table& table_;
  std::string name_;
  const std::string& where_;
  base::Result<void>& result_;
  std::vector<std::string> keys_;
};

struct ActionName {
  std::string_view name;
  FaultAction action;
};
constexpr std::array kActions = {
    ActionName{"crash", FaultAction::kCrash}, ActionName{"stop", FaultAction::kStop},
    ActionName{"exit", FaultAction::kExit},   ActionName{"kill", FaultAction::kKill},
    ActionName{"fail", FaultAction::kFail},
};

void read_action(TableReader& reader, const toml::table& table, FaultAction& action) {
  std::string text;
  reader.text("action", kMaxTextBytes, text);
  if (text.empty()) return;
  std::vector<std::string> names;
  for (const ActionName& candidate : kActions) {
    if (candidate.name == text) {
      action = candidate.action;
      return;
    }
    names.emplace_back(candidate.name);
  }
  reader.fail(*table.get("action"), "unknown action '" + text + "'", base::did_you_mean(text, names));
}

void read_cost(TableReader& costs, const char* name, const std::string& where, base::Result<void>& result,
               OperationCost& cost) {
  const toml::table* table = costs.table(name, false);
  if (table == nullptr) return;
  TableReader reader(*table, costs.path(name), where, result);
  reader.number("parallel_ms", kMaxCostMs, cost.parallel_ms);
  reader.number("serial_ms", kMaxCostMs, cost.serial_ms);
  reader.number("per_client_ms", kMaxCostMs, cost.per_client_ms);
  reader.number("per_context_ms", kMaxCostMs, cost.per_context_ms);
  reader.count("crowd_waiting", kMaxMaxClients, cost.crowd_waiting);
  reader.number("crowded_ms", kMaxCostMs, cost.crowded_ms);
  if (table->contains("crowd_waiting") != table->contains("crowded_ms")) {
    reader.fail(*table, "'crowd_waiting' and 'crowded_ms' of [" + costs.path(name) + "] go together");
  }
  reader.finish();
}

void read_device(const toml::table& table, const std::string& where, base::Result<void>& result,
                 Profile& profile) {
  TableReader reader(table, "device", where, result);
  reader.integer("gpus", 0, kMaxGpus, profile.gpus);
  reader.text("name", kMaxTextBytes, profile.device_name);
  reader.integer("memory_mib", 1, kMaxMemoryMib, profile.memory_mib);
  reader.integer("context_mib", 0, kMaxMemoryMib, profile.context_mib);
  reader.integer("granularity_kib", 1, kMaxGranularityKib, profile.granularity_kib);
  reader.integer("multiprocessors", 1, kMaxSmallNumber, profile.multiprocessors);
  reader.integer("threads_per_multiprocessor", 1, kMaxSmallNumber, profile.threads_per_multiprocessor);
  reader.integer("cuda_version", 1000, kMaxSmallNumber, profile.cuda_version);
  reader.text("driver_version", kMaxTextBytes, profile.driver_version);
  reader.finish();
}

void read_nvml(const toml::table& table, const std::string& where, base::Result<void>& result,
               NvmlBehaviour& nvml) {
  TableReader reader(table, "nvml", where, result);
  reader.boolean("process_memory", nvml.process_memory);
  reader.choice("lists", "process", "thread", nvml.lists_threads);
  reader.boolean("persistence", nvml.persistence);
  reader.boolean("refuse", nvml.refuse);
  reader.finish();
}

void read_costs(const toml::table& table, const std::string& where, base::Result<void>& result,
                Profile& profile) {
  TableReader costs(table, "cost", where, result);
  read_cost(costs, "cuinit", where, result, profile.cuinit);
  read_cost(costs, "context_create", where, result, profile.context_create);
  read_cost(costs, "context_destroy", where, result, profile.context_destroy);
  read_cost(costs, "memory", where, result, profile.memory);
  read_cost(costs, "nvml_init", where, result, profile.nvml_init);
  read_cost(costs, "nvml_query", where, result, profile.nvml_query);
  costs.finish();
}

void read_faults(TableReader& top, const toml::array& faults, const std::string& where,
                 base::Result<void>& result, Profile& profile) {
  if (faults.size() > kMaxFaults) top.fail(faults, "more than " + std::to_string(kMaxFaults) + " faults");
  for (const toml::node& node : faults) {
    const toml::table& table = *node.as_table();
    TableReader reader(table, "fault", where, result);
    Fault fault;
    reader.integer("nth_cuinit", 1, kMaxSmallNumber, fault.nth_cuinit);
    read_action(reader, table, fault.action);
    reader.finish();
    for (const Fault& earlier : profile.faults) {
      if (result && earlier.nth_cuinit == fault.nth_cuinit) {
        reader.fail(node, "a second fault for cuInit number " + std::to_string(fault.nth_cuinit));
      }
    }
    profile.faults.push_back(fault);
    if (!result) return;
  }
}

}  // namespace

base::Result<Profile> parse_profile(const std::string& toml, const std::string& where) {
  const toml::parse_result parsed = toml::parse(std::string_view(toml), std::string_view(where));
  if (!parsed) {
    const toml::source_position at = parsed.error().source().begin;
    return base::usage_error(where + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                             "not valid TOML: " + std::string(parsed.error().description()));
  }
  Profile profile;
  base::Result<void> result;
  TableReader top(parsed.table(), "", where, result);
  top.text("name", kMaxTextBytes, profile.name);
  top.text("description", kMaxDescriptionBytes, profile.description);
  top.number("jitter", 1, profile.jitter);
  if (const toml::table* device = top.table("device", true)) read_device(*device, where, result, profile);
  if (const toml::table* costs = top.table("cost", false)) read_costs(*costs, where, result, profile);
  if (const toml::table* nvml = top.table("nvml", false)) read_nvml(*nvml, where, result, profile.nvml);
  if (const toml::array* faults = top.tables("fault")) read_faults(top, *faults, where, result, profile);
  top.finish();
  if (result && profile.context_mib > profile.memory_mib) {
    result = base::usage_error(where, "one context (" + std::to_string(profile.context_mib) +
                                          " MiB) is larger than the device (" +
                                          std::to_string(profile.memory_mib) + " MiB)");
  }
  if (!result) return tl::unexpected(result.error());
  return profile;
}

base::Result<Profile> load_profile(const std::filesystem::path& file) {
  const auto text = base::read_file(file, kMaxProfileBytes);
  if (!text) return tl::unexpected(text.error());
  return parse_profile(*text, file.string());
}

base::Result<std::filesystem::path> find_profile(const std::string& name_or_file,
                                                 const std::filesystem::path& profile_dir) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool is_file = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".toml");
  const fs::path path = is_file ? fs::path(name_or_file) : profile_dir / (name_or_file + ".toml");
  if (!name_or_file.empty() && fs::is_regular_file(path, error)) return path;
  if (is_file) {
    return base::usage_error(
        name_or_file, "no such profile file: " + fs::absolute(path, error).lexically_normal().string());
  }

  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(profile_dir, error)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  if (names.empty()) {
    return base::failure(profile_dir.string(), "no profiles there", "reinstall, or give a profile as a file");
  }
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return base::usage_error("--profile", "unknown name '" + name_or_file + "', expected one of: " + list,
                           base::did_you_mean(name_or_file, names));
}

}  // namespace rollcall::simgpu
