// What was read and what could not be: for programs (import.json) and for people.
#include <fmt/format.h>

#include "evidence/json_object.h"
#include "importer/assemble.h"
#include "importer/read_logs.h"

namespace rollcall::importer {
namespace {

using evidence::clean_text;
using evidence::Json;

constexpr int kFormat = 1;

Json json_of(const LogReport& log) {
  Json json;
  json["path"] = log.path;
  json["cache"] = log.cache;
  if (!log.fault.empty()) {
    json["fault"] = log.fault;
    return json;
  }
  json["copy"] = log.copy;
  const LogReading& counts = log.counts;
  json["bytes"] = counts.bytes;
  json["lines"] = counts.lines;
  json["hami_lines"] = counts.hami_lines;
  json["benchmark_lines"] = counts.benchmark_lines;
  json["cut_lines"] = counts.cut_lines;
  json["other_lines"] = counts.other_lines;
  json["long_lines"] = counts.long_lines;
  json["nul_bytes"] = counts.nul_bytes;
  json["forgotten_lines"] = counts.forgotten_lines;
  json["pids"] = log.speakers;
  if (log.changed) json["changed_while_read"] = true;
  return json;
}

Json json_of(const RunReport& run) {
  Json json;
  json["run_id"] = run.id;
  json["silent_workers"] = run.silent;
  json["pids_of_no_worker"] = run.strangers;
  json["logs"] = Json::array();
  for (const LogReport& log : run.logs) json["logs"].push_back(json_of(log));
  json["regions"] = Json::array();
  for (const RegionReport& region : run.regions) {
    Json one{{"path", region.path}};
    if (!region.fault.empty()) one["fault"] = region.fault;
    json["regions"].push_back(std::move(one));
  }
  return json;
}

Json assumptions(const ReadOptions& options) {
  Json list = Json::array({"workload", "hold"});
  if (!options.isolation) list.push_back("isolation");
  if (!options.view) list.push_back("nvml_view");
  return list;
}

// "3 lines cut": nothing where there are none.
void add_count(std::vector<std::string>& parts, uint64_t count, const char* one, const char* many) {
  if (count > 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
}

}  // namespace

std::string import_json(const ReadPlan& plan, const ReadResult& result, size_t wall_time_rows) {
  const ReadOptions& options = plan.options;
  Json json;
  json["format"] = kFormat;
  json["rollcall_version"] = ROLLCALL_VERSION;
  json["imported_from"] = kImportedFrom;
  json["layout"] = clean_text(options.layout);
  if (!options.regions.empty()) json["regions"] = clean_text(options.regions);
  if (!options.truth.empty()) json["truth"] = clean_text(options.truth);
  json["isolation"] = to_text(options.isolation.value_or(evidence::Isolation::kNone));
  json["nvml_view"] = to_text(options.view.value_or(evidence::NvmlView::kUnknown));
  json["assumed"] = assumptions(options);
  json["external_wall_times"] = wall_time_rows;
  json["skipped"] = Json::array();
  for (const Skipped& skipped : plan.skipped) {
    json["skipped"].push_back(Json{{"path", skipped.path}, {"why", skipped.why}});
  }
  json["runs"] = Json::array();
  for (const RunReport& run : result.reports) json["runs"].push_back(json_of(run));
  return evidence::dump(json, 1) + "\n";
}

std::vector<std::string> reading_notes(const ReadPlan& plan, const ReadResult& result) {
  LogReading sum;
  uint64_t changed = 0;
  uint64_t strangers = 0;
  uint64_t silent = 0;
  std::vector<std::string> notes;
  const auto note = [&notes](const std::string& path, const std::string& why) {
    constexpr size_t kMaxNotes = 10;
    if (notes.size() < kMaxNotes) notes.push_back(fmt::format("not read: {}: {}", path, why));
    if (notes.size() == kMaxNotes) notes.push_back("not read: … more; import.json lists all");
  };
  for (const Skipped& skipped : plan.skipped) note(skipped.path, skipped.why);
  for (const RunReport& run : result.reports) {
    strangers += static_cast<uint64_t>(run.strangers);
    silent += static_cast<uint64_t>(run.silent);
    for (const LogReport& log : run.logs) {
      if (!log.fault.empty()) note(log.path, log.fault);
      changed += log.changed ? 1 : 0;
      sum.lines += log.counts.lines;
      sum.cut_lines += log.counts.cut_lines;
      sum.long_lines += log.counts.long_lines;
      sum.other_lines += log.counts.other_lines;
      sum.nul_bytes += log.counts.nul_bytes;
      sum.forgotten_lines += log.counts.forgotten_lines;
    }
    for (const RegionReport& region : run.regions) {
      if (!region.fault.empty()) note(region.path, region.fault);
    }
  }
  std::vector<std::string> parts;
  add_count(parts, sum.cut_lines, "line cut or run into another", "lines cut or run into another");
  add_count(parts, sum.long_lines, "line too long", "lines too long");
  add_count(parts, sum.other_lines, "line of other programs", "lines of other programs");
  add_count(parts, sum.forgotten_lines, "line of a PID too many", "lines of PIDs too many");
  add_count(parts, sum.nul_bytes, "NUL byte", "NUL bytes");
  if (!parts.empty())
    notes.push_back(fmt::format("not understood, of {} lines: {}", sum.lines, fmt::join(parts, ", ")));
  if (changed > 0)
    notes.push_back(fmt::format("{} written to while read: what came later is not in it", changed));
  if (strangers > 0)
    notes.push_back(
        fmt::format("{} PIDs spoke that the launcher did not list; they are no workers", strangers));
  if (silent > 0) notes.push_back(fmt::format("{} workers never spoke", silent));
  return notes;
}

}  // namespace rollcall::importer
