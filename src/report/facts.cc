// How the experiment was made and on what, from the documents beside the runs. They
// are read with care: each may be absent, and a folder may come from anybody. What is
// not there is not mentioned; what is null there is "not known".
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/model.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxValueWidth = 200;
constexpr size_t kMaxListed = 64;  // arms, programs, facts of an import

Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::string scalar_text(const Json& value) {
  if (value.is_null()) return "not known";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return printable(value.get_ref<const std::string&>(), kMaxValueWidth);
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_number()) return value.dump();
  return {};
}

// Adds the member, if it is there and a plain value.
void add(std::vector<Fact>& facts, const Json& json, const char* key, std::string name,
         const char* unit = "") {
  const auto found = json.find(key);
  if (found == json.end()) return;
  std::string text = scalar_text(*found);
  if (!text.empty()) facts.push_back({std::move(name), std::move(text) + (found->is_null() ? "" : unit)});
}

const Json& member(const Json& json, const char* key) {
  static const Json kNone = Json::object();
  const auto found = json.find(key);
  return found != json.end() && found->is_object() ? *found : kNone;
}

template <typename Of>
std::string each_once(const ReportSource& source, Of of) {
  std::vector<std::string> values;
  for (const evidence::Run& run : source.runs) {
    std::string value = of(run.record);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    if (values.size() > kMaxListed) break;
  }
  return fmt::format("{}", fmt::join(values, ", "));
}

// The days on which it was measured; the time of day is nobody's business.
std::string days(const ReportSource& source) {
  constexpr size_t kDayLength = 10;  // YYYY-MM-DD
  std::set<std::string> all;
  for (const evidence::Run& run : source.runs) {
    if (run.record.started_at.size() >= kDayLength) {
      all.insert(printable(run.record.started_at.substr(0, kDayLength), kDayLength));
    }
  }
  if (all.empty()) return {};
  return all.size() == 1 ? *all.begin() : *all.begin() + " to " + *all.rbegin();
}

std::string arm_role(const evidence::RunRecord& run) {
  if (!run.has_shim) {
    if (run.exercise == evidence::Exercise::kProbe)
      return "no library; the driver's own cost of a probe context";
    if (run.exercise == evidence::Exercise::kNvmlInit) return "no library; nvmlInit alone";
    return "no library: the driver alone";
  }
  if (!run.discovers()) return "with a library, timed only";
  if (run.identity_kind == evidence::IdentityKind::kBoth) {
    return "with a library; it claims a host PID and an NVML PID, and each that it claims is judged";
  }
  return fmt::format("with a library; its number is judged as {}",
                     run.identity_kind == evidence::IdentityKind::kNvml ? "NVML's" : "the host's");
}

void add_arms(std::vector<Fact>& facts, const ReportSource& source, const Json& plan) {
  std::set<std::string> seen;
  for (const evidence::Run& run : source.runs) {
    if (!seen.insert(run.record.arm).second || seen.size() > kMaxListed) continue;
    std::string value = arm_role(run.record);
    if (const auto shims = plan.find("shims"); shims != plan.end() && shims->is_array()) {
      for (const Json& shim : *shims) {
        if (!shim.is_object() || shim.value("name", Json()) != Json(run.record.arm)) continue;
        if (const std::string hash = scalar_text(shim.value("preload_sha256", Json("")));
            !hash.empty() && hash != "not known")
          value += ", SHA-256 " + hash;
      }
    }
    facts.push_back({"arm " + printable(run.record.arm, kMaxArmWidth), std::move(value)});
  }
}

// Logs do not say what the workers did besides; it was taken for granted.
std::string assumed(const evidence::RunRecord& run, const std::string& text) {
  return run.imported() ? text + " (assumed)" : text;
}

}  // namespace

std::vector<Fact> method_facts(const ReportModel& model, const ReportSource& source) {
  const Json plan = parsed(source.plan_json);
  std::vector<Fact> facts;
  facts.push_back({"runs", fmt::format("{}, of which {} valid", model.summary.runs,
                                       model.summary.runs - static_cast<int>(model.summary.invalid.size()))});
  if (source.runs.empty()) return facts;
  facts.push_back({"topologies", each_once(source, [](const auto& run) { return run.topology.text(); })});
  add_arms(facts, source, plan);
  if (std::string text = days(source); !text.empty()) facts.push_back({"measured on", std::move(text)});
  facts.push_back({"workload", each_once(source, [](const auto& run) {
                     return assumed(run, run.workload == evidence::Workload::kInit
                                             ? "init: cuInit alone"
                                             : "context: cuInit, then a context");
                   })});
  facts.push_back({"hold", each_once(source, [](const auto& run) {
                     return assumed(run, run.hold == evidence::Hold::kNone
                                             ? "none: a worker leaves once it is read"
                                             : "all: everybody stays until the last is done");
                   })});
  facts.push_back({"truth", each_once(source, [](const auto& run) {
                     return run.truth == "launcher"
                                ? std::string(run.imported() ? "the launcher's list of PIDs"
                                                             : "the PIDs that the launcher forked")
                                : printable(run.truth, kMaxNameWidth) + ": not checked against a launcher";
                   })});
  add(facts, plan, "runs", "runs per condition planned");
  add(facts, plan, "order", "order of the runs");
  add(facts, plan, "seed", "seed of the order");
  add(facts, plan, "worker_timeout_s", "deadline of a worker", " s");
  add(facts, plan, "run_timeout_s", "deadline of a run", " s");
  // How somebody else's harness did these is not known.
  if (source.runs.front().record.imported()) return facts;
  facts.push_back({"wall time",
                   "from the first fork until the last worker was gone, less the time for collecting "
                   "evidence afterwards"});
  facts.push_back({"gate", "workers load the driver, wait until all have come, and are let go at once"});
  return facts;
}

std::vector<Fact> environment_facts(const ReportSource& source) {
  const Json environment = parsed(source.environment_json);
  std::vector<Fact> facts;
  const Json& machine = member(environment, "machine");
  add(facts, environment, "rollcall_version", "measured with Rollcall");
  const auto text_of = [&](auto of) { return each_once(source, of); };
  if (!source.runs.empty()) {
    facts.push_back({"node", text_of([](const auto& run) { return std::string(to_text(run.node)); })});
    facts.push_back({"NVML view", text_of([](const auto& run) { return std::string(to_text(run.view)); })});
    facts.push_back(
        {"isolation", text_of([](const auto& run) { return std::string(to_text(run.isolation)); })});
    if (std::any_of(source.runs.begin(), source.runs.end(),
                    [](const auto& run) { return run.record.broker; })) {
      facts.push_back({"broker", "of the experiment's own"});
    }
  }
  add(facts, machine, "kernel", "kernel");
  add(facts, machine, "architecture", "architecture");
  add(facts, machine, "gvisor", "gVisor");
  add(facts, machine, "cpu", "CPU");
  add(facts, machine, "cpus", "CPUs");
  if (const auto memory = machine.find("memory_kib");
      memory != machine.end() && memory->is_number_unsigned()) {
    constexpr double kKibPerGib = 1024.0 * 1024.0;
    facts.push_back({"memory", fmt::format("{:.1f} GiB", memory->get<double>() / kKibPerGib)});
  }
  add(facts, machine, "initial_pid_namespace", "launcher in the initial PID namespace");
  add(facts, member(environment, "limits"), "open_files_hard", "open files (hard limit)");
  add(facts, member(environment, "limits"), "pid_max", "pid_max");
  const Json imported = parsed(source.import_json);
  for (const auto& [key, value] : imported.items()) {
    if (facts.size() >= kMaxListed) break;
    if (key == "format") continue;
    if (std::string text = scalar_text(value); !text.empty()) {
      facts.push_back({"import: " + printable(key, kMaxNameWidth), std::move(text)});
    }
  }
  return facts;
}

std::vector<Fact> program_facts(const ReportSource& source) {
  const Json environment = parsed(source.environment_json);
  std::vector<Fact> facts;
  for (const auto& [name, hash] : member(environment, "programs_sha256").items()) {
    if (facts.size() == kMaxListed) break;
    facts.push_back({printable(name, kMaxNameWidth), scalar_text(hash)});
  }
  if (!source.runs.empty()) {
    const std::string plan =
        each_once(source, [](const auto& run) { return printable(run.plan_sha256, kMaxValueWidth); });
    if (!plan.empty()) facts.push_back({"plan.json", plan});
  }
  return facts;
}

}  // namespace rollcall::report
