// run.json: one run as the launcher saw it. It opens with the number of the
// format, so that a reader of another age can say that it does not know it
// instead of stumbling over a key.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evidence/json_object.h"
#include "evidence/limits.h"
#include "evidence/records.h"

namespace rollcall::evidence {
namespace {

constexpr int64_t kFormat = 1;
constexpr Range kCount{1, std::numeric_limits<int>::max()};

Json print_events(const std::vector<RunEvent>& events) {
  Json list = Json::array();
  for (const RunEvent& event : events) {
    if (list.size() == kMaxEvents) break;
    list.push_back(Json{{"code", clean_text(event.code)}, {"detail", clean_text(event.detail)}});
  }
  return list;
}

base::Result<std::vector<RunEvent>> parse_events(const Json& list, const std::string& where) {
  std::vector<RunEvent> events;
  for (const Json& element : list) {
    ObjectReader reader(element, where, fmt::format("events[{}].", events.size()));
    RunEvent event;
    event.code = reader.text("code");
    event.detail = reader.text("detail");
    if (auto done = reader.done(); !done) return tl::unexpected<base::Error>(done.error());
    events.push_back(std::move(event));
  }
  return events;
}

// The times of a benchmark line under their names in the record.
struct BenchmarkTime {
  const char* key;
  std::optional<int64_t> Benchmark::*member;
};
constexpr BenchmarkTime kBenchmarkTimes[] = {
    {"wall_ns", &Benchmark::wall_ns},         {"span_ns", &Benchmark::span_ns},
    {"mean_ns", &Benchmark::mean_ns},         {"p50_ns", &Benchmark::p50_ns},
    {"p95_ns", &Benchmark::p95_ns},           {"p99_ns", &Benchmark::p99_ns},
    {"min_ns", &Benchmark::min_ns},           {"max_ns", &Benchmark::max_ns},
    {"mean_cpu_ns", &Benchmark::mean_cpu_ns}, {"mean_wait_ns", &Benchmark::mean_wait_ns}};

Json print_benchmarks(const std::vector<Benchmark>& benchmarks) {
  Json list = Json::array();
  for (const Benchmark& benchmark : benchmarks) {
    if (list.size() == kMaxListed) break;
    Json json;
    json["cache"] = benchmark.cache;
    if (!benchmark.label.empty()) json["label"] = clean_text(benchmark.label);
    json["n"] = benchmark.n;
    if (benchmark.ok) json["ok"] = *benchmark.ok;
    if (benchmark.failed) json["failed"] = *benchmark.failed;
    for (const BenchmarkTime& time : kBenchmarkTimes) {
      if (const auto& ns = benchmark.*time.member; ns) json[time.key] = *ns;
    }
    list.push_back(std::move(json));
  }
  return list;
}

base::Result<std::vector<Benchmark>> parse_benchmarks(const Json& list, const std::string& where) {
  constexpr Range kNotNegative{0, std::numeric_limits<int64_t>::max()};
  std::vector<Benchmark> benchmarks;
  for (const Json& element : list) {
    ObjectReader reader(element, where, fmt::format("benchmarks[{}].", benchmarks.size()));
    Benchmark benchmark;
    benchmark.cache = static_cast<int>(reader.integer("cache", {0, kMaxWorkers - 1}));
    if (reader.has("label")) benchmark.label = reader.text("label");
    benchmark.n = reader.integer("n", kNotNegative);
    benchmark.ok = reader.optional_integer("ok", kNotNegative);
    benchmark.failed = reader.optional_integer("failed", kNotNegative);
    for (const BenchmarkTime& time : kBenchmarkTimes) {
      benchmark.*time.member = reader.optional_integer(time.key, kNotNegative);
    }
    if (auto done = reader.done(); !done) return tl::unexpected<base::Error>(done.error());
    benchmarks.push_back(std::move(benchmark));
  }
  return benchmarks;
}

// Every member that format 1 did not have from its beginning is left out where it does
// not apply, so that the evidence of earlier versions reads as it did.
Json print_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) {
    if (list.size() == kMaxListed) break;
    list.push_back(clean_text(text));
  }
  return list;
}

}  // namespace

std::string run_id(int number, const Topology& topology, std::string_view arm, int repetition) {
  return fmt::format("{:03}-{}-{}-r{}", number, topology.text(), arm, repetition);
}

std::string RunRecord::id() const {
  return run_id(number, topology, arm, repetition);
}

std::string print_run(const RunRecord& record) {
  Json json;
  json["format"] = kFormat;
  json["number"] = record.number;
  json["topology"] = record.topology.text();
  json["arm"] = clean_text(record.arm);
  json["repetition"] = record.repetition;
  json["has_shim"] = record.has_shim;
  json["identity_kind"] = to_text(record.identity_kind);
  if (record.exercise != Exercise::kCuInit) json["exercise"] = to_text(record.exercise);
  json["node"] = to_text(record.node);
  json["profile"] = clean_text(record.profile);
  // JSON has no infinity; a scale that is no number is as good as unknown.
  if (record.time_scale && std::isfinite(*record.time_scale)) json["time_scale"] = *record.time_scale;
  if (!record.device_name.empty()) json["device_name"] = clean_text(record.device_name);
  if (!record.driver_version.empty()) json["driver_version"] = clean_text(record.driver_version);
  json["nvml_view"] = to_text(record.view);
  json["isolation"] = to_text(record.isolation);
  json["workload"] = to_text(record.workload);
  json["hold"] = to_text(record.hold);
  if (!record.devices.empty()) json["devices"] = print_texts(record.devices);
  if (record.neighbours != 0) json["neighbours"] = record.neighbours;
  if (record.broker) json["broker"] = true;
  if (record.processes_before) {
    // Cut like everything that a node could make long without end; one is enough to count.
    const auto& all = *record.processes_before;
    json["processes_before"] =
        std::vector<int64_t>(all.begin(), all.begin() + std::min<ptrdiff_t>(std::ssize(all), kMaxListed));
  }
  json["truth"] = clean_text(record.truth);
  if (!record.imported_from.empty()) json["imported_from"] = clean_text(record.imported_from);
  json["plan_sha256"] = clean_text(record.plan_sha256);
  json["started_at"] = clean_text(record.started_at);
  if (record.gate_opened_ns) json["gate_opened_ns"] = *record.gate_opened_ns;
  if (record.last_gone_ns) json["last_gone_ns"] = *record.last_gone_ns;
  if (record.collect_ns) json["collect_ns"] = *record.collect_ns;
  if (record.stated_wall_ns) json["stated_wall_ns"] = *record.stated_wall_ns;
  if (!record.benchmarks.empty()) json["benchmarks"] = print_benchmarks(record.benchmarks);
  json["events"] = print_events(record.events);
  return dump(json, 2) + "\n";
}

base::Result<RunRecord> parse_run(std::string_view json, const std::string& where) {
  auto parsed = parse_json(json, where);
  if (!parsed) return tl::unexpected<base::Error>(parsed.error());
  ObjectReader reader(*parsed, where);
  reader.integer("format", {kFormat, kFormat});

  RunRecord record;
  record.number = static_cast<int>(reader.integer("number", kCount));
  const std::string topology_text = reader.text("topology");
  const auto topology = Topology::parse(topology_text);
  if (topology) record.topology = *topology;
  if (!topology) reader.fail("topology", "CACHESxWORKERS_PER_CACHE", Json(topology_text));
  record.arm = reader.text("arm");
  record.repetition = static_cast<int>(reader.integer("repetition", kCount));
  record.has_shim = reader.boolean("has_shim");
  record.identity_kind = reader.word<IdentityKind>("identity_kind");
  if (reader.has("exercise")) record.exercise = reader.word<Exercise>("exercise");
  record.node = reader.word<NodeKind>("node");
  record.profile = reader.text("profile");
  record.time_scale = reader.optional_positive_number("time_scale");
  if (reader.has("device_name")) record.device_name = reader.text("device_name");
  if (reader.has("driver_version")) record.driver_version = reader.text("driver_version");
  record.view = reader.word<NvmlView>("nvml_view");
  record.isolation = reader.word<Isolation>("isolation");
  record.workload = reader.word<Workload>("workload");
  record.hold = reader.word<Hold>("hold");
  if (reader.has("devices")) record.devices = reader.texts("devices", kMaxListed);
  if (reader.has("broker")) record.broker = reader.boolean("broker");
  if (reader.has("neighbours")) {
    record.neighbours = static_cast<int>(reader.integer("neighbours", kCount));
  }
  if (reader.has("processes_before")) {
    record.processes_before = reader.integers("processes_before", kMaxListed, {});
  }
  record.truth = reader.text("truth");
  if (reader.has("imported_from")) record.imported_from = reader.text("imported_from");
  record.plan_sha256 = reader.text("plan_sha256");
  record.started_at = reader.text("started_at");
  record.gate_opened_ns = reader.optional_integer("gate_opened_ns");
  record.last_gone_ns = reader.optional_integer("last_gone_ns");
  record.collect_ns = reader.optional_integer("collect_ns");
  record.stated_wall_ns = reader.optional_integer("stated_wall_ns");
  if (reader.has("benchmarks")) {
    if (const Json* list = reader.array("benchmarks", kMaxListed); list != nullptr) {
      auto benchmarks = parse_benchmarks(*list, where);
      if (!benchmarks) return tl::unexpected<base::Error>(benchmarks.error());
      record.benchmarks = std::move(*benchmarks);
    }
  }
  if (const Json* list = reader.array("events", kMaxEvents); list != nullptr) {
    auto events = parse_events(*list, where);
    if (!events) return tl::unexpected<base::Error>(events.error());
    record.events = std::move(*events);
  }
  if (auto done = reader.done(); !done) return tl::unexpected<base::Error>(done.error());
  return record;
}

}  // namespace rollcall::evidence
