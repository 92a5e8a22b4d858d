// SIGINT and SIGTERM as a descriptor: an experiment that is interrupted ends its
// workers, keeps what is finished and says how to go on.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include "base/fd.h"

namespace rollcall::cli {

class Interrupt {
 public:
  Interrupt() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    fd_.reset(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  base::Fd fd_;
};

}  // namespace rollcall::cli
