// See judge_driver.h. Where there is no driver one line fails and says so; the lines
// that depend on it say that they are not known, and do not fail once more.
#include "doctor/judge_driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/process.h"

namespace rollcall::doctor {
namespace {

using probe::DeviceFacts;
using probe::NodeFacts;
using probe::ViewFacts;
using probe::ViewKind;

constexpr const char* kUseSimulated =
    "without a GPU use the simulated node: rollcall run --node sim, rollcall sim exec -- rollcall doctor";
// What an idle device was seen to keep for itself, with room.
constexpr uint64_t kIdleBytes = uint64_t{2} << 30;
constexpr size_t kShownProcesses = 5;
constexpr const char* kMpsServer = "nvidia-cuda-mps-server";

std::string not_known(const std::string& reason) {
  return "not known: " + (reason.empty() ? std::string("nothing was observed") : reason);
}

// Where NVML cannot be asked its own line says why, once.
std::string not_known(const std::string& reason, const base::Result<NodeFacts>& node) {
  const bool told = node && !node->nvml_error.empty() && reason == node->nvml_error;
  return not_known(told ? std::string("NVML cannot be asked") : reason);
}

Check judge_cuda(const base::Result<NodeFacts>& node, bool simulated) {
  if (!node) return {"cuda_driver", Status::kFail, node.error().line(), kUseSimulated};
  if (!node->usable()) return {"cuda_driver", Status::kFail, node->cuda_error, kUseSimulated};
  std::string found = "CUDA version not told";
  if (node->cuda_version) {
    found = fmt::format("CUDA {}.{}", *node->cuda_version / 1000, *node->cuda_version % 1000 / 10);
  }
  found += node->driver_version.empty() ? ", driver version not told" : ", driver " + node->driver_version;
  if (!node->driver_library.empty()) found += fmt::format(" ({})", node->driver_library);
  return {"cuda_driver", Status::kPass, found + (simulated ? "; the simulated node" : ""), ""};
}

Check judge_devices(const NodeFacts& node) {
  if (node.cuda_uuids.empty()) {
    return {"devices", Status::kWarn, "not known: the CUDA driver shows none", ""};
  }
  std::vector<std::string> names;
  size_t unpaired = 0;
  for (const std::string& uuid : node.cuda_uuids) {
    const auto device = std::find_if(node.devices.begin(), node.devices.end(),
                                     [&](const DeviceFacts& candidate) { return candidate.uuid == uuid; });
    if (device == node.devices.end()) ++unpaired;
    std::string name = device == node.devices.end() || device->name.empty() ? "name not told" : device->name;
    if (device != node.devices.end() && device->memory_total_bytes) {
      name += fmt::format(", {} MiB", to_mib(*device->memory_total_bytes));
    }
    names.push_back(fmt::format("{} ({})", uuid, name));
  }
  std::string found = fmt::format("{} for CUDA, {} in NVML: {}", node.cuda_uuids.size(), node.devices.size(),
                                  fmt::join(names, "; "));
  if (unpaired > 0) {
    return {"devices", Status::kWarn, fmt::format("{}; {} of them NVML does not show", found, unpaired),
            "which NVML list belongs to them is not known; with MIG that is expected"};
  }
  return {"devices", Status::kPass, std::move(found), ""};
}

Check judge_nvml(const NodeFacts& node) {
  if (!node.nvml_error.empty()) {
    // Without any driver one failure is enough.
    return {"nvml", node.usable() ? Status::kFail : Status::kWarn, node.nvml_error,
            "shims find their PID in NVML's list: give the container the driver's 'utility' capability"};
  }
  if (!node.processes_error.empty()) {
    return {"nvml", Status::kFail, "processes cannot be listed: " + node.processes_error,
            "shims find their PID in that list"};
  }
  return {"nvml", Status::kPass, fmt::format("answers, and lists processes ({} now)", node.processes.size()),
          ""};
}

std::string seen_as(const ViewFacts& view) {
  return fmt::format(
      "a child with PID {} here and {} inside was listed as [{}] to itself and as [{}] to its parent",
      view.child_host_pid.value_or(0), view.child_own_pid.value_or(0), fmt::join(view.new_inside, ", "),
      fmt::join(view.new_outside, ", "));
}

Check judge_nvml_pids(const base::Result<ViewFacts>& view, const base::Result<NodeFacts>& node) {
  const std::string id = "nvml_pids";
  if (!view) return {id, Status::kWarn, not_known(view.error().line()), ""};
  switch (view->view) {
    case ViewKind::kTranslated:
      return {id, Status::kPass, "translated into the namespace of who asks: " + seen_as(*view), ""};
    case ViewKind::kGlobal:
      if (view->caller_is_listed_as_itself == false) {
        return {id, Status::kWarn, "global, and not by this PID namespace: " + seen_as(*view),
                "host PIDs cannot be checked from here: run it in the host's PID namespace"};
      }
      return {id, Status::kPass, "global, the same number for everybody: " + seen_as(*view), ""};
    case ViewKind::kThreadIds:
      return {id, Status::kWarn, "the id of a thread and not of the process: " + seen_as(*view),
              "a shim that looks for PIDs finds none: what it assigns is a thread id (alias 'thread_id')"};
    case ViewKind::kUnknown:
      break;
  }
  return {id, Status::kWarn, not_known(view->reason, node),
          "PIDs of processes in other PID namespaces than this one cannot be told apart"};
}

Check judge_entries(const base::Result<NodeFacts>& node, const base::Result<ViewFacts>& view) {
  const std::string id = "process_entries";
  const auto pick = [&](auto of_view, auto of_node) -> std::optional<int> {
    if (view && (*view).*of_view) return (*view).*of_view;
    return node ? (*node).*of_node : std::nullopt;
  };
  const auto v1 = pick(&ViewFacts::stride_v1, &NodeFacts::stride_v1);
  const auto v2 = pick(&ViewFacts::stride_v2, &NodeFacts::stride_v2);
  const auto v3 = pick(&ViewFacts::stride_v3, &NodeFacts::stride_v3);
  if (!v1 && !v2 && !v3) {
    return {id, Status::kWarn, "not known: nobody was listed whose entry could be measured", ""};
  }
  const auto text = [](const std::optional<int>& bytes) {
    return bytes ? std::to_string(*bytes) : std::string("not known");
  };
  const std::string found =
      fmt::format("bytes per entry: {} (v1), {} (v2), {} (v3)", text(v1), text(v2), text(v3));
  if (v1.value_or(16) != 16 || v2.value_or(24) != 24 || v3.value_or(24) != 24) {
    return {id, Status::kWarn, found + "; documented are 16, 24 and 24",
            "a shim that takes the documented size reads wrong PIDs from the second entry on"};
  }
  return {id, Status::kPass, found, ""};
}

Check judge_process_memory(const base::Result<ViewFacts>& view, const base::Result<NodeFacts>& node) {
  const std::string id = "process_memory";
  if (!view) return {id, Status::kWarn, not_known(view.error().line()), ""};
  if (view->memory_bytes) {
    return {id, Status::kPass,
            fmt::format("told for each process: {} MiB for a context", to_mib(*view->memory_bytes)), ""};
  }
  if (view->new_inside.size() == 1) {
    return {id, Status::kWarn, "the driver does not tell what each process uses",
            "a process cannot find itself by its own allocations here (some virtual GPUs, WDDM)"};
  }
  return {id, Status::kWarn, not_known(view->reason, node), ""};
}

std::string listed(const std::vector<probe::ListedProcess>& processes) {
  std::vector<std::string> texts;
  for (const auto& process : processes) {
    if (texts.size() == kShownProcesses) {
      texts.push_back(fmt::format("and {} more", processes.size() - kShownProcesses));
      break;
    }
    texts.push_back(fmt::format("{} ({}, {}) on device {}", process.pid,
                                process.name.empty() ? "name not told" : process.name,
                                process.memory_bytes ? fmt::format("{} MiB", to_mib(*process.memory_bytes))
                                                     : std::string("memory not told"),
                                process.device));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

Check judge_idle(const Facts& facts, const NodeFacts& node) {
  const std::string id = "gpu_idle";
  if (!node.processes_error.empty()) return {id, Status::kWarn, not_known(node.processes_error, node), ""};
  if (!node.processes.empty()) {
    return {id, Status::kWarn, "in use by " + listed(node.processes),
            "runs with others on the GPU are invalid (gpu_not_idle): end them, or choose another GPU"};
  }
  for (const DeviceFacts& device : node.devices) {
    if (!device.memory_total_bytes || !device.memory_free_bytes) {
      return {id, Status::kWarn, "nobody is listed, but the memory in use is not known", ""};
    }
    const uint64_t used =
        *device.memory_total_bytes - std::min(*device.memory_free_bytes, *device.memory_total_bytes);
    if (used > kIdleBytes) {
      return {id, Status::kWarn,
              fmt::format("nobody is listed, yet {} MiB of device {} are in use", to_mib(used),
                          device.nvml_index),
              "somebody whom this PID namespace cannot see: look from the host"};
    }
  }
  const auto& view = facts.view;
  const bool hides = view && view->view == probe::ViewKind::kTranslated && facts.pid_namespace &&
                     *facts.pid_namespace != base::kInitialPidNamespaceInode;
  if (hides) {
    return {id, Status::kWarn, "nobody whom this PID namespace can see",
            "runs from here are invalid (idle_not_known): run it in the host's PID namespace"};
  }
  if (!view || !view->caller_is_listed_as_itself) {
    return {id, Status::kWarn, "nobody is listed, but neither was a process with a context", ""};
  }
  return {id, Status::kPass, "nobody computes on it", ""};
}

// Devices of which something is so, and those of which it is not known.
struct DeviceSets {
  std::vector<int> yes;
  std::vector<int> unknown;
};
DeviceSets sort_devices(const NodeFacts& node,
                        const std::function<std::optional<bool>(const DeviceFacts&)>& is) {
  DeviceSets sets;
  for (const DeviceFacts& device : node.devices) {
    const auto answer = is(device);
    if (!answer) sets.unknown.push_back(device.nvml_index);
    if (answer.value_or(false)) sets.yes.push_back(device.nvml_index);
  }
  return sets;
}

struct ModeTexts {
  const char* id;
  Status if_yes;
  const char* yes;  // followed by the devices
  const char* next;
  const char* no;
};
Check judge_mode(const NodeFacts& node, const ModeTexts& texts,
                 const std::function<std::optional<bool>(const DeviceFacts&)>& is) {
  const DeviceSets sets = sort_devices(node, is);
  if (!sets.yes.empty()) {
    return {texts.id, texts.if_yes, fmt::format("{} device {}", texts.yes, fmt::join(sets.yes, ", ")),
            texts.next};
  }
  if (node.devices.empty()) return {texts.id, Status::kWarn, not_known("NVML shows no device"), ""};
  if (!sets.unknown.empty()) {
    return {texts.id, Status::kWarn,
            fmt::format("not known: the driver does not tell of device {}", fmt::join(sets.unknown, ", ")),
            ""};
  }
  return {texts.id, Status::kPass, texts.no, ""};
}

Check judge_mig(const NodeFacts& node) {
  return judge_mode(
      node,
      {"mig", Status::kWarn, "on, for",
       "a MIG instance has a UUID of its own, and NVML lists its processes on the whole GPU", "off"},
      [](const DeviceFacts& device) { return device.mig_enabled; });
}

Check judge_mps(const Facts& facts) {
  const std::string next = "under MPS the server is listed in place of its clients: end it for an experiment";
  if (!facts.mps_pipe_directory.empty()) {
    return {"mps", Status::kWarn, "CUDA_MPS_PIPE_DIRECTORY is " + facts.mps_pipe_directory, next};
  }
  if (!facts.node || !facts.node->processes_error.empty()) {
    return {"mps", Status::kWarn, "not known: who computes on the devices could not be listed", ""};
  }
  for (const auto& process : facts.node->processes) {
    if (process.name.find(kMpsServer) != std::string::npos) {
      return {"mps", Status::kWarn, fmt::format("a server is listed, PID {}", process.pid), next};
    }
  }
  return {"mps", Status::kPass, "no sign of it", ""};
}

Check judge_compute_mode(const NodeFacts& node) {
  return judge_mode(node,
                    {"compute_mode", Status::kFail, "exclusive or prohibited, for",
                     "let several processes use it: nvidia-smi -c DEFAULT", "default: shared by any number"},
                    [](const DeviceFacts& device) -> std::optional<bool> {
                      if (!device.compute_mode) return std::nullopt;
                      return *device.compute_mode != 0;
                    });
}

Check judge_persistence(const NodeFacts& node) {
  return judge_mode(
      node,
      {"persistence", Status::kWarn, "off, for",
       "the GPU may go to sleep between runs, and the first cuInit wakes it: nvidia-smi -pm 1", "on"},
      [](const DeviceFacts& device) -> std::optional<bool> {
        if (!device.persistence_mode) return std::nullopt;
        return !*device.persistence_mode;
      });
}

// The device of CUDA's ordinal 0, which workers use unless told otherwise.
const DeviceFacts* first_device(const NodeFacts& node) {
  for (const DeviceFacts& device : node.devices) {
    if (!node.cuda_uuids.empty() && device.uuid == node.cuda_uuids[0]) return &device;
  }
  return nullptr;
}

}  // namespace

std::vector<Check> judge_driver(const Facts& facts) {
  // Where even the question failed, everything below says that nothing was observed.
  NodeFacts nothing;
  if (!facts.node) {
    nothing.cuda_error = nothing.nvml_error = nothing.processes_error = facts.node.error().line();
  }
  const NodeFacts& node = facts.node ? *facts.node : nothing;
  return {judge_cuda(facts.node, facts.simulated_node),
          judge_devices(node),
          judge_nvml(node),
          judge_nvml_pids(facts.view, facts.node),
          judge_entries(facts.node, facts.view),
          judge_process_memory(facts.view, facts.node),
          judge_idle(facts, node),
          judge_mig(node),
          judge_mps(facts),
          judge_compute_mode(node),
          judge_persistence(node)};
}

Check judge_device_memory(const Facts& facts) {
  const std::string id = "device_memory";
  if (!facts.view || !facts.view->memory_bytes) {
    return {id, Status::kWarn, "not known: the size of a context was not measured", ""};
  }
  const DeviceFacts* device = facts.node ? first_device(*facts.node) : nullptr;
  if (device == nullptr || !device->memory_total_bytes) {
    return {id, Status::kWarn, "not known: the driver does not tell the memory of the first device", ""};
  }
  const uint64_t each = std::max<uint64_t>(*facts.view->memory_bytes, 1);
  const uint64_t total = *device->memory_total_bytes;
  const uint64_t fit = total / each;
  const std::string found =
      fmt::format("{} contexts of {} MiB need {} MiB of {} MiB", facts.workers, to_mib(each),
                  to_mib(each * static_cast<uint64_t>(facts.workers)), to_mib(total));
  if (fit < static_cast<uint64_t>(facts.workers)) {
    return {
        id, Status::kWarn, found,
        fmt::format("at most {} workers can hold a context at a time (--workload context, --hold all)", fit)};
  }
  return {id, Status::kPass, found, ""};
}

}  // namespace rollcall::doctor
