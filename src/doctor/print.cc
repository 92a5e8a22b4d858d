// The checks as lines for people and as JSON for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/judge.h"
#include "evidence/json_object.h"
#include "probe/observe.h"
#include "report/text_table.h"

namespace rollcall::doctor {
namespace {

using evidence::Json;

constexpr size_t kMaxTextColumns = 1000;  // of a driver's words; wrapped below

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// A part of the facts that is known as the JSON of another room, or why it is not.
template <typename T>
Json or_error(const base::Result<T>& facts, std::string (*print)(const T&)) {
  if (!facts) return Json{{"error", evidence::clean_text(facts.error().line())}};
  return Json::parse(print(*facts));
}

Json json_of(const study::ProcessLimits& limits) {
  Json json;
  json["open_files_soft"] = or_null(limits.open_files_soft);
  json["open_files_hard"] = or_null(limits.open_files_hard);
  json["user_processes"] = or_null(limits.user_processes);
  json["pid_max"] = or_null(limits.pid_max);
  json["cgroup_tasks"] = or_null(limits.cgroup_tasks);
  return json;
}

Json json_of(const Facts& facts) {
  Json json;
  json["kernel_release"] = evidence::clean_text(facts.kernel_release);
  json["pid_namespace"] = or_null(facts.pid_namespace);
  json["proc_is_own"] = or_null(facts.proc_is_own);
  json["virtual_machine"] = facts.virtual_machine;
  json["simulated_node"] = facts.simulated_node;
  json["node"] = or_error(facts.node, probe::print_node_facts);
  json["view"] = or_error(facts.view, probe::print_view_facts);
  json["mps_pipe_directory"] = evidence::clean_text(facts.mps_pipe_directory);
  json["workers"] = facts.workers;
  json["limits"] = json_of(facts.limits);
  json["memory_total_bytes"] = or_null(facts.memory_total_bytes);
  json["memory_available_bytes"] = or_null(facts.memory_available_bytes);
  json["shim"] = evidence::clean_text(facts.shim);
  json["shim_loads"] = facts.shim_loads ? Json(facts.shim_loads->has_value()) : Json(nullptr);
  return json;
}

}  // namespace

std::string text_report(const std::vector<Check>& checks) {
  size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.id.size());
  std::string text;
  for (const Check& check : checks) {
    const std::string head = fmt::format("  {}  {:<{}}  ", to_text(check.status), check.id, width);
    const std::string indent(head.size(), ' ');
    const auto add = [&](const std::string& first, const std::string& words) {
      // The first line is as narrow as the others: a word stands where the head will.
      const std::string place(head.size() - 1, '-');
      const std::string lines =
          report::wrapped(place + " " + report::printable(words, kMaxTextColumns), indent.size());
      text += first + lines.substr(head.size());
    };
    add(head, check.found);
    if (!check.next.empty()) add(indent, "-> " + check.next);
  }
  return text;
}

std::string json_report(const std::vector<Check>& checks, const Facts& facts) {
  Json json;
  json["checks"] = Json::array();
  for (const Check& check : checks) {
    Json line;
    line["id"] = check.id;
    line["status"] = to_text(check.status);
    line["found"] = evidence::clean_text(check.found);
    line["next"] = evidence::clean_text(check.next);
    json["checks"].push_back(std::move(line));
  }
  json["facts"] = json_of(facts);
  return evidence::dump(json, 2) + "\n";
}

}  // namespace rollcall::doctor
