// See gpu_idle.h. The launcher never touches the driver itself: rollcall-probe asks.
#include "study/gpu_idle.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "probe/observe.h"
#include "study/run_space.h"

namespace rollcall::study {
namespace {

constexpr int64_t kSettleNs = 10 * base::kNsPerSecond;
constexpr int64_t kSettleIntervalNs = 100 * base::kNsPerMs;
constexpr size_t kMaxNamed = 5;

probe::ProbeProgram on_all_devices(const std::filesystem::path& probe) {
  probe::ProbeProgram program;
  program.file = probe;
  program.environment = without_withheld();
  return program;
}

}  // namespace

void check_idle(const std::filesystem::path& probe, const RealNode& node, evidence::RunRecord& record) {
  const auto processes = probe::list_processes(on_all_devices(probe));
  if (!processes) {
    record.events.push_back({"idle_not_known", processes.error().line()});
    return;
  }
  record.processes_before.emplace();
  std::string named;
  for (const probe::ListedProcess& process : *processes) {
    if (record.processes_before->size() < kMaxNamed) {
      named += fmt::format("{}{} on device {}{}", named.empty() ? "" : ", ", process.pid, process.device,
                           process.name.empty() ? "" : " (" + process.name + ")");
    }
    record.processes_before->push_back(process.pid);
  }
  if (processes->empty()) {
    if (!node.lists_launcher_numbers) {
      record.events.push_back(
          {"idle_not_known", "not even a process of ours with a context was seen to be listed"});
    } else if (node.view == evidence::NvmlView::kTranslated && !node.in_initial_namespace) {
      record.events.push_back({"idle_not_known", "NVML hides who is outside this PID namespace"});
    }
    return;
  }
  record.events.push_back(
      {"gpu_not_idle", fmt::format("{} processes were there before the run: {}", processes->size(), named)});
}

void settle(const std::filesystem::path& probe, const std::optional<std::vector<int64_t>>& before) {
  const int64_t deadline_ns = base::monotonic_ns() + kSettleNs;
  while (base::monotonic_ns() < deadline_ns) {
    const auto processes = probe::list_processes(on_all_devices(probe));
    if (!processes) return;
    const bool left =
        std::any_of(processes->begin(), processes->end(), [&](const probe::ListedProcess& process) {
          return !before || std::find(before->begin(), before->end(), process.pid) == before->end();
        });
    if (!left) return;
    const timespec pause{0, kSettleIntervalNs};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace rollcall::study
