// See namespaces.h. A namespace is held by its first process, rollcall-namespace, which
// hangs on a pipe: however the launcher ends, its end of that pipe is closed and the kernel
// ends all that is in the namespace.
#include "study/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/process.h"
#include "worker/namespace.h"

namespace rollcall::study {
namespace {

constexpr int64_t kStopDeadlineNs = 10 * base::kNsPerSecond;

bool ends(const Child& child, int64_t deadline_ns) {
  for (;;) {
    const int64_t left_ms = (deadline_ns - base::monotonic_ns()) / base::kNsPerMs;
    pollfd wait{child.pidfd.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, left_ms > 0 ? static_cast<int>(left_ms) : 0);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

base::Result<NamespaceDoor> open_door(pid_t pid) {
  const std::string process = fmt::format("/proc/{}/", pid);
  std::string failed;
  int error = 0;
  const auto open_one = [&](const char* name, int flags) {
    base::Fd fd(open((process + name).c_str(), flags | O_CLOEXEC));
    if (!fd.valid() && failed.empty()) {
      failed = process + name;
      error = errno;
    }
    return fd;
  };
  NamespaceDoor door;
  door.pid = open_one("ns/pid", O_RDONLY);
  door.mount = open_one("ns/mnt", O_RDONLY);
  door.ipc = open_one("ns/ipc", O_RDONLY);
  door.root = open_one("root", O_PATH | O_DIRECTORY);
  door.folder = open_one("cwd", O_PATH | O_DIRECTORY);
  if (!failed.empty()) return base::system_failure(failed, "open", error);
  return door;
}

// Nothing is to be read from its environment, and nothing to be written but that it was
// started by hand.
base::Result<Child> start_first(const Paths& paths, int lifeline, int null_fd,
                                const std::filesystem::path& read_only_folder) {
  std::string name = "rollcall-namespace";
  const std::array<char*, 2> arguments = {name.data(), nullptr};
  const EnvironmentBlock nothing({});
  NewNamespaces founds;
  if (!read_only_folder.empty()) founds.read_only_folder = read_only_folder.c_str();
  SpawnRequest request;
  request.program = paths.namespace_holder.c_str();
  request.arguments = arguments.data();
  request.environment = nothing.get();
  request.output_fd = null_fd;
  request.inherited = {lifeline};
  request.founds = &founds;
  return spawn(request);
}

std::string how_it_died(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? fmt::format("exit status {}", info.si_status)
                                    : fmt::format("signal {}", info.si_status);
}

// The first line of /proc/self/uid_map says that this user is the one that it was.
bool write_text(const char* file, const std::string& text) {
  const base::Fd fd(open(file, O_WRONLY | O_CLOEXEC));
  return fd.valid() && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool become_own_user_namespace() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER) != 0) return false;
  // An ordinary user may map its group only after it has given up setgroups().
  return write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", fmt::format("{} {} 1", user, user)) &&
         write_text("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

}  // namespace

base::Result<Namespaces> Namespaces::start(const Paths& paths, int count,
                                           const std::filesystem::path& read_only_folder) {
  int lifeline[2] = {-1, -1};
  if (pipe2(lifeline, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  const base::Fd lifeline_end(lifeline[0]);
  Namespaces namespaces;
  namespaces.lifeline_.reset(lifeline[1]);
  const base::Fd null_fd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null_fd.valid()) return base::system_failure("/dev/null", "open", errno);
  for (int i = 0; i < count; ++i) {
    auto first = start_first(paths, lifeline_end.get(), null_fd.get(), read_only_folder);
    if (!first) return tl::unexpected(first.error());
    namespaces.first_.push_back(std::move(*first));
    auto door = open_door(namespaces.first_.back().pid);
    if (!door) return tl::unexpected(door.error());
    namespaces.doors_.push_back(std::move(*door));
  }
  return namespaces;
}

Namespaces::~Namespaces() {
  (void)stop();
}

NamespacesEnded Namespaces::stop() {
  NamespacesEnded ended;
  doors_.clear();
  lifeline_.reset();
  const int64_t deadline_ns = base::monotonic_ns() + kStopDeadlineNs;
  for (size_t i = 0; i < first_.size(); ++i) {
    siginfo_t info{};
    // One that does not end waits for a process inside that the kernel or a tracer holds.
    // It is not waited for in turn: it ends when that one does.
    if (!ends(first_[i], deadline_ns) ||
        waitid(P_PID, static_cast<id_t>(first_[i].pid), &info, WEXITED | WNOHANG) != 0) {
      ended.died.push_back(fmt::format("cache {}: could not be ended", i));
      continue;
    }
    // Nobody but somebody else ends it by a signal.
    const bool as_told = info.si_code == CLD_EXITED;
    if (as_told && info.si_status > worker::kProcessesLeft) {
      ended.processes_left += info.si_status - worker::kProcessesLeft;
    } else if (!as_told || info.si_status != 0) {
      ended.died.push_back(fmt::format("cache {}: {}", i, how_it_died(info)));
    }
  }
  first_.clear();
  return ended;
}

base::Result<void> prepare_isolation(const Paths& paths) {
  const auto tried = Namespaces::start(paths, 1, {});
  if (tried) return {};
  base::Error error = tried.error();
  const bool became = become_own_user_namespace();
  if (became) {
    const auto tried_again = Namespaces::start(paths, 1, {});
    if (tried_again) return {};
    error = tried_again.error();
  }
  return base::failure(
      "--isolate pid",
      fmt::format("{}: {}{}", error.where, error.what, became ? ", also in a user namespace of its own" : ""),
      "it needs root with CAP_SYS_ADMIN, or user namespaces that may mount /proc "
      "(user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; the masked /proc of a "
      "container forbids it)");
}

}  // namespace rollcall::study
