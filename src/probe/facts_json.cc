// The facts as JSON: what is not known is left out, never null or 0. Read strictly,
// because the two ends are of one version and anything else is a mistake.
#include <fmt/format.h>

#include "evidence/json_object.h"
#include "probe/observe.h"

namespace rollcall::probe {
namespace {

using evidence::Json;
using evidence::ObjectReader;

constexpr const char* kWhere = "rollcall-probe";
constexpr size_t kMaxDevices = 256;
constexpr size_t kMaxProcesses = size_t{1} << 17;
constexpr size_t kMaxNumbers = 4096;
constexpr evidence::Range kIndex{0, 1 << 16};
constexpr evidence::Range kPid{0, INT64_C(0xffffffff)};  // NVML's PIDs are unsigned

template <typename T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json json_of(const ListedProcess& process) {
  Json json;
  json["device"] = process.device;
  json["pid"] = process.pid;
  put(json, "memory_bytes", process.memory_bytes);
  json["name"] = evidence::clean_text(process.name);
  return json;
}

Json json_of(const std::vector<ListedProcess>& processes) {
  Json json = Json::array();
  for (const ListedProcess& process : processes) json.push_back(json_of(process));
  return json;
}

Json json_of(const DeviceFacts& device) {
  Json json;
  json["nvml_index"] = device.nvml_index;
  json["uuid"] = evidence::clean_text(device.uuid);
  json["name"] = evidence::clean_text(device.name);
  put(json, "memory_total_bytes", device.memory_total_bytes);
  put(json, "memory_free_bytes", device.memory_free_bytes);
  put(json, "persistence_mode", device.persistence_mode);
  put(json, "mig_enabled", device.mig_enabled);
  put(json, "compute_mode", device.compute_mode);
  return json;
}

// Members of a list, each read by `read(ObjectReader&)`; the first failure wins.
template <typename T, typename Read>
base::Result<std::vector<T>> read_list(const Json* list, const char* key, Read read) {
  std::vector<T> result;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    ObjectReader reader((*list)[i], kWhere, fmt::format("{}[{}].", key, i));
    T value = read(reader);
    if (auto done = reader.done(); !done) return tl::unexpected(done.error());
    result.push_back(std::move(value));
  }
  return result;
}

ListedProcess read_process(ObjectReader& reader) {
  ListedProcess process;
  process.device = static_cast<int>(reader.integer("device", kIndex));
  process.pid = reader.integer("pid", kPid);
  process.memory_bytes = reader.optional_unsigned("memory_bytes");
  process.name = reader.text("name");
  return process;
}

DeviceFacts read_device(ObjectReader& reader) {
  DeviceFacts device;
  device.nvml_index = static_cast<int>(reader.integer("nvml_index", kIndex));
  device.uuid = reader.text("uuid");
  device.name = reader.text("name");
  device.memory_total_bytes = reader.optional_unsigned("memory_total_bytes");
  device.memory_free_bytes = reader.optional_unsigned("memory_free_bytes");
  device.persistence_mode = reader.optional_boolean("persistence_mode");
  device.mig_enabled = reader.optional_boolean("mig_enabled");
  device.compute_mode = reader.optional_int("compute_mode");
  return device;
}

std::vector<std::string> read_texts(ObjectReader& reader, const char* key) {
  std::vector<std::string> texts;
  const Json* list = reader.array(key, kMaxDevices);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!(*list)[i].is_string()) {
      reader.fail(key, "a list of texts", (*list)[i]);
      return {};
    }
    texts.push_back((*list)[i].get<std::string>());
  }
  return texts;
}

ViewKind read_view_kind(ObjectReader& reader) {
  const std::string text = reader.text("view");
  for (const ViewKind kind :
       {ViewKind::kUnknown, ViewKind::kGlobal, ViewKind::kTranslated, ViewKind::kThreadIds}) {
    if (text == to_text(kind)) return kind;
  }
  reader.fail("view", "one of its known words", Json(text));
  return ViewKind::kUnknown;
}

}  // namespace

std::string_view to_text(ViewKind view) {
  switch (view) {
    case ViewKind::kUnknown:
      return "unknown";
    case ViewKind::kGlobal:
      return "global";
    case ViewKind::kTranslated:
      return "translated";
    case ViewKind::kThreadIds:
      return "thread ids";
  }
  return "unknown";
}

std::string print_node_facts(const NodeFacts& facts) {
  Json json;
  json["cuda_error"] = evidence::clean_text(facts.cuda_error);
  put(json, "cuinit_result", facts.cuinit_result);
  put(json, "cuda_version", facts.cuda_version);
  json["driver_library"] = evidence::clean_text(facts.driver_library);
  json["cuda_uuids"] = facts.cuda_uuids;
  json["nvml_error"] = evidence::clean_text(facts.nvml_error);
  json["driver_version"] = evidence::clean_text(facts.driver_version);
  json["devices"] = Json::array();
  for (const DeviceFacts& device : facts.devices) json["devices"].push_back(json_of(device));
  json["processes"] = json_of(facts.processes);
  json["processes_error"] = evidence::clean_text(facts.processes_error);
  put(json, "stride_v1", facts.stride_v1);
  put(json, "stride_v2", facts.stride_v2);
  put(json, "stride_v3", facts.stride_v3);
  return evidence::dump(json, 2) + "\n";
}

base::Result<NodeFacts> parse_node_facts(const std::string& text) {
  const auto json = evidence::parse_json(text, kWhere);
  if (!json) return tl::unexpected(json.error());
  ObjectReader reader(*json, kWhere);
  NodeFacts facts;
  facts.cuda_error = reader.text("cuda_error");
  facts.cuinit_result = reader.optional_int("cuinit_result");
  facts.cuda_version = reader.optional_int("cuda_version");
  facts.driver_library = reader.text("driver_library");
  facts.cuda_uuids = read_texts(reader, "cuda_uuids");
  facts.nvml_error = reader.text("nvml_error");
  facts.driver_version = reader.text("driver_version");
  auto devices = read_list<DeviceFacts>(reader.array("devices", kMaxDevices), "devices", read_device);
  auto processes =
      read_list<ListedProcess>(reader.array("processes", kMaxProcesses), "processes", read_process);
  facts.processes_error = reader.text("processes_error");
  facts.stride_v1 = reader.optional_int("stride_v1");
  facts.stride_v2 = reader.optional_int("stride_v2");
  facts.stride_v3 = reader.optional_int("stride_v3");
  if (auto done = reader.done(); !done) return tl::unexpected(done.error());
  if (!devices) return tl::unexpected(devices.error());
  if (!processes) return tl::unexpected(processes.error());
  facts.devices = std::move(*devices);
  facts.processes = std::move(*processes);
  return facts;
}

std::string print_view_facts(const ViewFacts& facts) {
  Json json;
  json["view"] = to_text(facts.view);
  json["reason"] = evidence::clean_text(facts.reason);
  put(json, "child_host_pid", facts.child_host_pid);
  put(json, "child_own_pid", facts.child_own_pid);
  json["child_thread_ids"] = facts.child_thread_ids;
  put(json, "own_namespace", facts.own_namespace);
  json["new_inside"] = facts.new_inside;
  json["new_outside"] = facts.new_outside;
  put(json, "memory_bytes", facts.memory_bytes);
  put(json, "host_memory_bytes", facts.host_memory_bytes);
  put(json, "stride_v1", facts.stride_v1);
  put(json, "stride_v2", facts.stride_v2);
  put(json, "stride_v3", facts.stride_v3);
  put(json, "caller_is_listed_as_itself", facts.caller_is_listed_as_itself);
  return evidence::dump(json, 2) + "\n";
}

base::Result<ViewFacts> parse_view_facts(const std::string& text) {
  const auto json = evidence::parse_json(text, kWhere);
  if (!json) return tl::unexpected(json.error());
  ObjectReader reader(*json, kWhere);
  ViewFacts facts;
  facts.view = read_view_kind(reader);
  facts.reason = reader.text("reason");
  facts.child_host_pid = reader.optional_integer("child_host_pid", kPid);
  facts.child_own_pid = reader.optional_integer("child_own_pid", kPid);
  facts.child_thread_ids = reader.integers("child_thread_ids", kMaxNumbers, kPid);
  facts.own_namespace = reader.optional_boolean("own_namespace");
  facts.new_inside = reader.integers("new_inside", kMaxNumbers, kPid);
  facts.new_outside = reader.integers("new_outside", kMaxNumbers, kPid);
  facts.memory_bytes = reader.optional_unsigned("memory_bytes");
  facts.host_memory_bytes = reader.optional_unsigned("host_memory_bytes");
  facts.stride_v1 = reader.optional_int("stride_v1");
  facts.stride_v2 = reader.optional_int("stride_v2");
  facts.stride_v3 = reader.optional_int("stride_v3");
  facts.caller_is_listed_as_itself = reader.optional_boolean("caller_is_listed_as_itself");
  if (auto done = reader.done(); !done) return tl::unexpected(done.error());
  return facts;
}

std::string print_processes(const std::vector<ListedProcess>& processes) {
  Json json;
  json["processes"] = json_of(processes);
  return evidence::dump(json, 2) + "\n";
}

base::Result<std::vector<ListedProcess>> parse_processes(const std::string& text) {
  const auto json = evidence::parse_json(text, kWhere);
  if (!json) return tl::unexpected(json.error());
  ObjectReader reader(*json, kWhere);
  auto processes =
      read_list<ListedProcess>(reader.array("processes", kMaxProcesses), "processes", read_process);
  if (auto done = reader.done(); !done) return tl::unexpected(done.error());
  return processes;
}

}  // namespace rollcall::probe
