// rollcall-probe starting itself: fork and exec, never fork alone, because a driver
// is not usable in a forked child, and the child must be what any program is.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <climits>
#include <string>

namespace rollcall::probe {

// The file of the running program; empty if it cannot be told. By its name, so that
// a process list shows it.
inline std::string self_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

// In a forked child: from now on it dies with its parent. `parent` is 0 where the
// parent is outside of the child's PID namespace.
inline void die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
}

inline void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace rollcall::probe
