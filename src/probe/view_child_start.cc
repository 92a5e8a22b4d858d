// See view_child.h. A process enters no new PID namespace itself: it unshares, and
// its next child is the first process (PID 1) there. That one starts the watched
// process and reaps; when it ends, the kernel ends the whole namespace.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "probe/self_program.h"
#include "probe/view_child.h"

namespace rollcall::probe {
namespace {

constexpr int kEndMs = 5000;

[[noreturn]] void become_watched(const char* self) {
  unblock_signals();
  char name[] = "rollcall-probe";
  char question[] = "view-child";
  char fd[] = "3";
  static_assert(kViewChildFd == 3);
  char* const arguments[] = {name, question, fd, nullptr};
  execv(self, arguments);
  _exit(127);
}

bool write_file(const char* path, const std::string& text) {
  const base::Fd fd(open(path, O_WRONLY | O_CLOEXEC));
  return fd.valid() && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Where a PID namespace alone is not allowed, one inside a user namespace may be. With
// it a mount namespace, for a /proc of its own.
bool unshare_pids() {
  if (unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) return true;
  if (errno != EPERM) return false;
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) return false;
  write_file("/proc/self/setgroups", "deny");
  return write_file("/proc/self/uid_map", fmt::format("{} {} 1", user, user)) &&
         write_file("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

int wait_for_end_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// The driver's cuInit fails with 304 in a process that does not find itself in /proc
// (seen with driver 580.159.04). Where /proc cannot be mounted, that is what will be told.
void mount_own_proc() {
  (void)mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  (void)mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

// PID 1 of the new namespace.
[[noreturn]] void be_first(const char* self, int spare_pids) {
  die_with_parent(0);
  mount_own_proc();
  for (int i = 0; i < spare_pids; ++i) {
    const pid_t spare = fork();
    if (spare == 0) _exit(0);
    if (spare > 0) wait_for_end_of(spare);
  }
  const pid_t watched = fork();
  if (watched < 0) _exit(1);
  if (watched == 0) {
    die_with_parent(1);
    become_watched(self);
  }
  close(kViewChildFd);  // so that its end is seen when the watched process ends
  _exit(wait_for_end_of(watched));
}

[[noreturn]] void enter_namespace(const char* self, int spare_pids, pid_t parent) {
  if (!unshare_pids()) {
    const int error = errno;
    const Channel channel{base::Fd(kViewChildFd)};
    evidence::Json message;
    message["no_namespace"] = fmt::format("unshare: {}", std::strerror(error));
    (void)channel.send(message);
    _exit(1);
  }
  die_with_parent(parent);  // a change of credentials has undone it
  const pid_t first = fork();
  if (first == 0) be_first(self, spare_pids);
  close(kViewChildFd);
  _exit(first < 0 ? 1 : wait_for_end_of(first));
}

}  // namespace

base::Result<ViewChild> ViewChild::start(bool own_namespace, int spare_pids) {
  const std::string self = self_path();
  if (self.empty()) return base::failure("/proc/self/exe", "cannot be read", "is /proc mounted?");
  auto ends = Channel::make();
  if (!ends) return tl::unexpected(ends.error());
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return base::system_failure("fork", "start a process", errno);
  if (pid == 0) {
    die_with_parent(parent);
    // Nothing of ours goes with it: neither the other end, nor what NVML has opened.
    if (dup2(ends->second.fd(), kViewChildFd) < 0) _exit(1);
    fcntl(kViewChildFd, F_SETFD, 0);
    if (syscall(SYS_close_range, kViewChildFd + 1, ~0U, 0) != 0) {
      for (int fd = kViewChildFd + 1; fd < 1024; ++fd) close(fd);
    }
    if (own_namespace) enter_namespace(self.c_str(), spare_pids, parent);
    become_watched(self.c_str());
  }
  return ViewChild(std::move(ends->first), pid);
}

ViewChild::~ViewChild() {
  if (pid_ < 0) return;
  channel_ = Channel(base::Fd());  // tells the watched process to end
  for (int waited_ms = 0; waited_ms < 2 * kEndMs; waited_ms += 10) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    if (waited_ms == kEndMs) kill(pid_, SIGKILL);  // those below die with their parents
    poll(nullptr, 0, 10);
  }
}

}  // namespace rollcall::probe
