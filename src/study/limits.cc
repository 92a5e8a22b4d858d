// See limits.h. The checks are a pure function of what was read.
#include "study/limits.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "simgpu/session.h"

namespace rollcall::study {
namespace {

// The launcher's own descriptors: standard streams, board, pipes, the node's
// connection, directories, a file or two being written.
constexpr uint64_t kOwnDescriptors = 64;
// NamespaceDoor's five, and a pidfd.
constexpr uint64_t kDescriptorsOfNamespace = 6;
constexpr int kSpareClients = 16;
// The launcher, the node's daemon and what a shell may start beside it.
constexpr uint64_t kOwnProcesses = 8;
constexpr size_t kMaxProcFileBytes = 1 << 16;

std::optional<uint64_t> to_number(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> number_in(const std::filesystem::path& file) {
  const auto content = base::read_file(file, kMaxProcFileBytes);
  return content ? to_number(*content) : std::nullopt;
}

// Root may exceed RLIMIT_NPROC; so may who has CAP_SYS_ADMIN or CAP_SYS_RESOURCE
// (copy_process in kernel/fork.c).
bool bound_by_user_processes() {
  if (getuid() == 0) return false;
  const auto status = base::read_file("/proc/self/status", kMaxProcFileBytes);
  if (!status) return true;
  const size_t at = status->find("CapEff:\t");
  if (at == std::string::npos) return true;
  const uint64_t effective = std::strtoull(status->c_str() + at + 8, nullptr, 16);
  constexpr int kCapSysAdmin = 21;
  constexpr int kCapSysResource = 24;
  return (effective & (1ULL << kCapSysAdmin)) == 0 && (effective & (1ULL << kCapSysResource)) == 0;
}

uint64_t tasks_of_user(uid_t user) {
  uint64_t tasks = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || info.st_uid != user) continue;
    struct stat task_info {};
    // The link count of task/ is two more than the number of threads.
    if (stat((entry.path() / "task").c_str(), &task_info) == 0 && task_info.st_nlink > 2) {
      tasks += task_info.st_nlink - 2;
    } else {
      ++tasks;
    }
  }
  return tasks;
}

// The folder of our control group in the unified hierarchy, or in version 1's
// own hierarchy of the pids controller.
std::optional<std::filesystem::path> pids_cgroup() {
  const auto content = base::read_file("/proc/self/cgroup", kMaxProcFileBytes);
  if (!content) return std::nullopt;
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder = line.substr(second + 1);
    std::filesystem::path path;
    if (controllers == "pids") path = "/sys/fs/cgroup/pids" + folder;
    if (controllers.empty()) path = "/sys/fs/cgroup" + folder;
    std::error_code error;
    if (!path.empty() && std::filesystem::exists(path / "pids.max", error)) return path;
  }
  return std::nullopt;
}

}  // namespace

ProcessLimits read_process_limits() {
  ProcessLimits limits;
  rlimit value{};
  if (getrlimit(RLIMIT_NOFILE, &value) == 0) {
    if (value.rlim_cur != RLIM_INFINITY) limits.open_files_soft = value.rlim_cur;
    if (value.rlim_max != RLIM_INFINITY) limits.open_files_hard = value.rlim_max;
  }
  if (bound_by_user_processes() && getrlimit(RLIMIT_NPROC, &value) == 0 && value.rlim_cur != RLIM_INFINITY) {
    limits.user_processes = value.rlim_cur;
    limits.user_processes_used = tasks_of_user(getuid());
  }
  limits.pid_max = number_in("/proc/sys/kernel/pid_max");
  if (const auto cgroup = pids_cgroup()) {
    limits.cgroup_tasks = number_in(*cgroup / "pids.max");  // the word "max" is no number: no limit
    limits.cgroup_tasks_used = number_in(*cgroup / "pids.current");
  }
  return limits;
}

int node_clients(int workers) {
  return workers + kSpareClients;
}

uint64_t needed_descriptors(const RunSize& size) {
  const uint64_t launcher = static_cast<uint64_t>(size.workers) + static_cast<uint64_t>(size.caches) +
                            kDescriptorsOfNamespace * static_cast<uint64_t>(size.namespaces) +
                            kOwnDescriptors;
  return std::max(launcher, simgpu::needed_descriptors(node_clients(size.workers)));
}

base::Result<void> check_limits(const ProcessLimits& limits, const RunSize& size) {
  const int workers = size.workers;
  const uint64_t descriptors = needed_descriptors(size);
  if (limits.open_files_hard && *limits.open_files_hard < descriptors) {
    return base::failure("open files (RLIMIT_NOFILE)",
                         fmt::format("{} workers need {} descriptors, the hard limit is {}", workers,
                                     descriptors, *limits.open_files_hard),
                         fmt::format("set it with 'ulimit -n {}' as a user who may", descriptors));
  }
  // A namespace is held by a process of its own.
  const uint64_t processes =
      static_cast<uint64_t>(workers) + static_cast<uint64_t>(size.namespaces) + kOwnProcesses;
  const uint64_t used = limits.user_processes_used.value_or(0);
  if (limits.user_processes && *limits.user_processes < used + processes) {
    return base::failure(
        "user processes (RLIMIT_NPROC)",
        fmt::format("{} workers need {} processes beside the {} of this user, the limit is {}", workers,
                    processes, used, *limits.user_processes),
        fmt::format("set it with 'ulimit -u {}'", used + processes));
  }
  if (limits.pid_max && *limits.pid_max < processes) {
    return base::failure(
        "/proc/sys/kernel/pid_max",
        fmt::format("{} workers need {} PIDs, there are {}", workers, processes, *limits.pid_max),
        fmt::format("set it with 'sysctl kernel.pid_max={}'", std::max<uint64_t>(processes, 32768)));
  }
  const uint64_t in_group = limits.cgroup_tasks_used.value_or(0);
  if (limits.cgroup_tasks && *limits.cgroup_tasks < in_group + processes) {
    return base::failure(
        "pids.max of the control group",
        fmt::format("{} workers need {} tasks beside the {} that are there, the limit is {}", workers,
                    processes, in_group, *limits.cgroup_tasks),
        fmt::format("set it to {} or more (TasksMax= in a systemd unit, --pids-limit of a container)",
                    in_group + processes));
  }
  return {};
}

base::Result<void> raise_open_files(uint64_t needed) {
  rlimit value{};
  if (getrlimit(RLIMIT_NOFILE, &value) != 0) return base::system_failure("RLIMIT_NOFILE", "read", errno);
  if (value.rlim_cur == RLIM_INFINITY || value.rlim_cur >= needed) return {};
  value.rlim_cur = needed;
  if (setrlimit(RLIMIT_NOFILE, &value) != 0) {
    return base::system_failure("RLIMIT_NOFILE", fmt::format("raise to {}", needed), errno,
                                fmt::format("set it with 'ulimit -n {}'", needed));
  }
  return {};
}

}  // namespace rollcall::study
