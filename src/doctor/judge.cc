// The machine's part of the judgement; the driver's is in judge_driver.cc.
#include "doctor/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/process.h"
#include "doctor/judge_driver.h"

namespace rollcall::doctor {
namespace {

// pidfd_open came with 5.3.
constexpr int kOldestMajor = 5;
constexpr int kOldestMinor = 3;

Check judge_kernel(const Facts& facts) {
  const std::string& release = facts.kernel_release;
  // gVisor plays a kernel of exactly this release.
  if (release == "4.4.0") {
    return {"kernel", Status::kWarn, "gVisor (it says Linux 4.4.0)",
            "its PID namespaces and its /proc are its own: trust no host PID from in here"};
  }
  int major = 0;
  int minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2) {
    return {"kernel", Status::kWarn, "release not known", "Linux 5.3 or newer is needed"};
  }
  if (std::pair(major, minor) < std::pair(kOldestMajor, kOldestMinor)) {
    return {"kernel", Status::kFail, "Linux " + release, "Linux 5.3 or newer is needed (pidfd_open)"};
  }
  return {"kernel", Status::kPass, "Linux " + release, ""};
}

Check judge_pid_namespace(const Facts& facts) {
  if (!facts.pid_namespace) {
    return {"pid_namespace", Status::kWarn, "not known: /proc/self/ns/pid cannot be read", "mount /proc"};
  }
  if (*facts.pid_namespace == base::kInitialPidNamespaceInode) {
    return {"pid_namespace", Status::kPass,
            facts.virtual_machine
                ? "the initial namespace of this kernel, which is a virtual machine's: PIDs are "
                  "the virtual machine's"
                : "the initial namespace of this kernel; if this is a virtual machine, of the VM",
            ""};
  }
  return {
      "pid_namespace", Status::kWarn,
      fmt::format("a namespace of its own (inode {}): the PIDs seen here are not the host's",
                  *facts.pid_namespace),
      "run it in the host's PID namespace (docker run --pid=host, hostPID: true), or see nvml_pids below"};
}

Check judge_proc(const Facts& facts) {
  if (!facts.proc_is_own) return {"proc", Status::kFail, "/proc/self cannot be read", "mount /proc"};
  if (!*facts.proc_is_own) {
    return {"proc", Status::kFail, "/proc is of another PID namespace",
            "mount this one's: unshare --pid --fork --mount-proc"};
  }
  return {"proc", Status::kPass, "of this PID namespace", ""};
}

Check judge_limits(const Facts& facts) {
  // As many caches as workers need the most.
  const auto checked = study::check_limits(facts.limits, {facts.workers, facts.workers});
  if (!checked)
    return {"process_limits", Status::kFail, checked.error().where + ": " + checked.error().what,
            checked.error().advice};
  return {"process_limits", Status::kPass,
          fmt::format("processes and open files for {} workers", facts.workers), ""};
}

Check judge_host_memory(const Facts& facts) {
  const std::string id = "host_memory";
  if (!facts.memory_available_bytes)
    return {id, Status::kWarn, "not known: /proc/meminfo cannot be read", ""};
  const std::string there = fmt::format(
      "{} MiB available{}", to_mib(*facts.memory_available_bytes),
      facts.memory_total_bytes ? fmt::format(" of {} MiB", to_mib(*facts.memory_total_bytes)) : "");
  if (!facts.view || !facts.view->host_memory_bytes) {
    return {id, Status::kWarn, there + "; what a worker with a context takes was not measured", ""};
  }
  const uint64_t each = *facts.view->host_memory_bytes;
  const uint64_t all = each * static_cast<uint64_t>(facts.workers);
  const std::string need = fmt::format("{} workers with a context need about {} MiB ({} MiB each, measured)",
                                       facts.workers, to_mib(all), to_mib(each));
  if (all > *facts.memory_available_bytes) {
    return {id, Status::kWarn, fmt::format("{}; {}", there, need),
            fmt::format("take at most {} workers with contexts; on a virtual machine with memory ballooning "
                        "MemTotal may grow as it is used",
                        *facts.memory_available_bytes / std::max<uint64_t>(each, 1))};
  }
  return {id, Status::kPass, fmt::format("{}; {}", there, need), ""};
}

Check judge_shim(const Facts& facts) {
  if (*facts.shim_loads) return {"shim", Status::kPass, facts.shim + " can be preloaded", ""};
  const base::Error& error = facts.shim_loads->error();
  return {"shim", Status::kFail, error.where + ": " + error.what,
          error.advice.empty() ? "see it with: ldd " + facts.shim : error.advice};
}

}  // namespace

std::string_view to_text(Status status) {
  switch (status) {
    case Status::kPass:
      return "pass";
    case Status::kWarn:
      return "warn";
    case Status::kFail:
      return "fail";
  }
  return "fail";
}

std::vector<Check> judge(const Facts& facts) {
  std::vector<Check> checks = {judge_kernel(facts), judge_pid_namespace(facts), judge_proc(facts)};
  for (Check& check : judge_driver(facts)) checks.push_back(std::move(check));
  checks.push_back(judge_limits(facts));
  checks.push_back(judge_device_memory(facts));
  checks.push_back(judge_host_memory(facts));
  if (facts.shim_loads) checks.push_back(judge_shim(facts));
  return checks;
}

bool healthy(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& check) { return check.status == Status::kFail; });
}

}  // namespace rollcall::doctor
