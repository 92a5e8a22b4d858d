// One line of workers.jsonl: what is known of one worker. A key that is absent
// means "not known", which is never the same as 0.
//
// Moments and durations may be any 64-bit number, negative ones too: they come
// out of memory that the system under test could have scribbled over, and
// a strange number must cost its own record, not the readability of the run.
#include <algorithm>

#include "evidence/json_object.h"
#include "evidence/limits.h"
#include "evidence/records.h"

namespace rollcall::evidence {
namespace {

constexpr Range kWorkerNumber{0, kMaxWorkers - 1};
constexpr Range kPid{1, std::numeric_limits<int32_t>::max()};
// A process that the reading namespace cannot see has PID 0 there.
constexpr Range kNamespacePid{0, std::numeric_limits<int32_t>::max()};

template <typename T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json print_integers(const std::vector<int64_t>& values, size_t max_count) {
  Json list = Json::array();
  for (size_t i = 0; i < std::min(values.size(), max_count); ++i) list.push_back(values[i]);
  return list;
}

Json print_discovery(const Discovery& discovery) {
  Json json;
  json["state"] = to_text(discovery.state);
  json["source"] = clean_text(discovery.source);
  put(json, "assigned_pid", discovery.assigned_pid);
  put(json, "assigned_nvml_pid", discovery.assigned_nvml_pid);
  json["tier"] = clean_text(discovery.tier);
  if (!discovery.nvml_tier.empty()) json["nvml_tier"] = clean_text(discovery.nvml_tier);
  json["reason"] = clean_text(discovery.reason);
  if (!discovery.nvml_reason.empty()) json["nvml_reason"] = clean_text(discovery.nvml_reason);
  put(json, "added_ns", discovery.added_ns);
  put(json, "context_added_ns", discovery.context_added_ns);
  return json;
}

base::Result<Discovery> parse_discovery(const Json& json, const std::string& where) {
  ObjectReader reader(json, where, "discovery.");
  Discovery discovery;
  discovery.state = reader.word<DiscoveryState>("state");
  discovery.source = reader.text("source");
  discovery.assigned_pid = reader.optional_integer("assigned_pid");
  discovery.assigned_nvml_pid = reader.optional_integer("assigned_nvml_pid");
  discovery.tier = reader.text("tier");
  if (reader.has("nvml_tier")) discovery.nvml_tier = reader.text("nvml_tier");
  discovery.reason = reader.text("reason");
  if (reader.has("nvml_reason")) discovery.nvml_reason = reader.text("nvml_reason");
  discovery.added_ns = reader.optional_integer("added_ns");
  discovery.context_added_ns = reader.optional_integer("context_added_ns");
  const bool assigned = discovery.assigned_pid || discovery.assigned_nvml_pid;
  if (assigned != (discovery.state == DiscoveryState::kAssigned)) {
    reader.fail("assigned_pid", "it, or assigned_nvml_pid, exactly where the state is \"assigned\"", json);
  }
  if (auto done = reader.done(); !done) return tl::unexpected<base::Error>(done.error());
  return discovery;
}

}  // namespace

std::string print_worker(const WorkerRecord& record) {
  Json json;
  json["worker"] = record.worker;
  json["cache"] = record.cache;
  put(json, "pid", record.pid);
  put(json, "start_time", record.start_time);
  put(json, "pid_namespace", record.pid_namespace);
  json["nspid"] = print_integers(record.nspid, kMaxNamespaceDepth);
  json["thread_ids"] = print_integers(record.thread_ids, kMaxThreadIds);
  json["fate"] = to_text(record.fate);
  json["stage"] = to_text(record.stage);
  put(json, "exit_code", record.exit_code);
  put(json, "exit_signal", record.exit_signal);
  json["error"] = clean_text(record.error);
  put(json, "shim_loaded", record.shim_loaded);
  json["driver_library"] = clean_text(record.driver_library);
  put(json, "load_ns", record.load_ns);
  put(json, "released_ns", record.released_ns);
  put(json, "resolve_ns", record.resolve_ns);
  put(json, "cuinit_ns", record.cuinit_ns);
  put(json, "cuinit_result", record.cuinit_result);
  put(json, "context_ns", record.context_ns);
  put(json, "context_result", record.context_result);
  put(json, "control_ns", record.control_ns);
  put(json, "control_result", record.control_result);
  put(json, "finished_ns", record.finished_ns);
  json["discovery"] = print_discovery(record.discovery);
  return dump(json, -1);
}

base::Result<WorkerRecord> parse_worker(std::string_view json, const std::string& where) {
  auto parsed = parse_json(json, where);
  if (!parsed) return tl::unexpected<base::Error>(parsed.error());
  ObjectReader reader(*parsed, where);
  WorkerRecord record;
  record.worker = static_cast<int>(reader.integer("worker", kWorkerNumber));
  record.cache = static_cast<int>(reader.integer("cache", kWorkerNumber));
  record.pid = reader.optional_integer("pid", kPid);
  record.start_time = reader.optional_unsigned("start_time");
  record.pid_namespace = reader.optional_unsigned("pid_namespace");
  record.nspid = reader.integers("nspid", kMaxNamespaceDepth, kNamespacePid);
  record.thread_ids = reader.integers("thread_ids", kMaxThreadIds, kPid);
  record.fate = reader.word<Fate>("fate");
  record.stage = reader.word<Stage>("stage");
  record.exit_code = reader.optional_int("exit_code");
  record.exit_signal = reader.optional_int("exit_signal");
  record.error = reader.text("error");
  record.shim_loaded = reader.optional_boolean("shim_loaded");
  record.driver_library = reader.text("driver_library");
  record.load_ns = reader.optional_integer("load_ns");
  record.released_ns = reader.optional_integer("released_ns");
  record.resolve_ns = reader.optional_integer("resolve_ns");
  record.cuinit_ns = reader.optional_integer("cuinit_ns");
  record.cuinit_result = reader.optional_int("cuinit_result");
  record.context_ns = reader.optional_integer("context_ns");
  record.context_result = reader.optional_int("context_result");
  record.control_ns = reader.optional_integer("control_ns");
  record.control_result = reader.optional_int("control_result");
  record.finished_ns = reader.optional_integer("finished_ns");
  if (const Json* member = reader.member("discovery"); member != nullptr) {
    auto discovery = parse_discovery(*member, where);
    if (!discovery) return tl::unexpected<base::Error>(discovery.error());
    record.discovery = std::move(*discovery);
  }
  if (auto done = reader.done(); !done) return tl::unexpected<base::Error>(done.error());
  return record;
}

}  // namespace rollcall::evidence
