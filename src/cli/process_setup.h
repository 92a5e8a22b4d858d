// What the process takes over from whoever started it, put in order before
// anything else happens. A parent can leave standard streams closed and signals
// ignored; each of these would change what the kernel does later on.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace rollcall::cli {

inline void set_up_process() {
  // With a closed standard stream the next descriptor would become that stream.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
  // Where it is ignored, children are reaped by the kernel, and their PIDs can
  // come back as somebody else's in the middle of a run.
  signal(SIGCHLD, SIG_DFL);
  // A file that would grow past RLIMIT_FSIZE is then an error (EFBIG) and not the end.
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace rollcall::cli
