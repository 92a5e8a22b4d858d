// See environment.h. What cannot be read is null, never left out: a reader can
// tell "not known" from "not asked".
#include "study/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "evidence/sha256.h"
#include "probe/observe.h"
#include "study/broker.h"
#include "study/limits.h"

extern char** environ;

namespace rollcall::study {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kMaxProcFileBytes = 8 << 20;

Json cpu_model() {
  const auto content = base::read_file("/proc/cpuinfo", kMaxProcFileBytes);
  if (!content) return nullptr;
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return nullptr;
}

Json memory_total_kib() {
  const auto content = base::read_file("/proc/meminfo", kMaxProcFileBytes);
  if (!content) return nullptr;
  unsigned long long value = 0;
  return std::sscanf(content->c_str(), "MemTotal: %llu kB", &value) == 1 ? Json(value) : Json(nullptr);
}

Json or_null(const std::optional<uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json describe_machine() {
  utsname name{};
  Json machine;
  const bool known = uname(&name) == 0;
  machine["kernel"] = known ? Json(name.release) : Json(nullptr);
  machine["architecture"] = known ? Json(name.machine) : Json(nullptr);
  // gVisor plays a kernel of this release; PID namespaces behave differently there.
  machine["gvisor"] = known ? Json(std::string(name.release) == "4.4.0") : Json(nullptr);
  machine["cpu"] = cpu_model();
  machine["cpus"] = std::thread::hardware_concurrency();
  machine["memory_kib"] = memory_total_kib();
  const uint64_t inode = base::own_pid_namespace_inode();
  machine["pid_namespace"] = inode != 0 ? Json(inode) : Json(nullptr);
  machine["initial_pid_namespace"] =
      inode != 0 ? Json(inode == base::kInitialPidNamespaceInode) : Json(nullptr);
  return machine;
}

Json describe_limits() {
  const ProcessLimits limits = read_process_limits();
  Json json;
  json["open_files_soft"] = or_null(limits.open_files_soft);
  json["open_files_hard"] = or_null(limits.open_files_hard);
  json["user_processes"] = or_null(limits.user_processes);
  json["pid_max"] = or_null(limits.pid_max);
  json["cgroup_tasks"] = or_null(limits.cgroup_tasks);
  return json;
}

// The variables that could change what a worker does; the values of others are
// nobody's business.
Json describe_variables() {
  Json json = Json::object();
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string text(*at);
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const bool relevant = name.starts_with("ROLLCALL_") || name.starts_with("CUDA_") ||
                          name.starts_with("LD_") || name.starts_with("NVIDIA_") ||
                          name.starts_with("LIBCUDA_");
    if (relevant && equals != std::string::npos) json[name] = text.substr(equals + 1);
  }
  return json;
}

// As rollcall-probe told it, unchanged: what was seen, and what could not be.
Json describe_driver(const NodeObservation& observed) {
  Json json;
  json["node"] = Json::parse(probe::print_node_facts(observed.facts), nullptr, false);
  json["view"] = observed.view_error.empty()
                     ? Json::parse(probe::print_view_facts(observed.view), nullptr, false)
                     : Json(nullptr);
  json["view_error"] = observed.view_error;
  return json;
}

}  // namespace

base::Result<std::string> describe_environment(const Paths& paths, const Plan& plan,
                                               const std::string& plan_sha256,
                                               const std::optional<NodeObservation>& observed) {
  Json json;
  json["format"] = 1;
  json["rollcall_version"] = ROLLCALL_VERSION;
  json["plan_sha256"] = plan_sha256;
  json["node"] = evidence::to_text(plan.node);
  json["machine"] = describe_machine();
  json["limits"] = describe_limits();
  json["variables"] = describe_variables();
  Json programs;
  std::vector<std::pair<const char*, std::filesystem::path>> files = {
      std::pair{"rollcall", paths.self},
      std::pair{"rollcall-worker", paths.worker},
      std::pair{"rollcall-probe", paths.probe},
      std::pair{"simgpud", paths.simgpud},
      std::pair{"librollcall_shim.so", paths.shim},
      std::pair{"libcuda.so.1", paths.sim_dir / "libcuda.so.1"},
      std::pair{"libnvidia-ml.so.1", paths.sim_dir / "libnvidia-ml.so.1"}};
  if (plan.isolation == evidence::Isolation::kPid)
    files.emplace_back("rollcall-namespace", paths.namespace_holder);
  if (needs_broker(plan)) files.emplace_back("hostpidd", paths.hostpidd);
  for (const auto& [name, file] : files) {
    const auto hash = evidence::sha256_file(file);
    if (!hash) return tl::unexpected(hash.error());
    programs[name] = *hash;
  }
  json["programs_sha256"] = std::move(programs);
  if (observed) json["driver"] = describe_driver(*observed);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rollcall::study
