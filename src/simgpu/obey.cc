// The first process of a PID namespace is immune to signals that it sends to
// itself and does not handle, SIGKILL and SIGSTOP among them. What such a
// process can do instead: a real fault kills it too, and waiting for ever hangs
// as a stopped process hangs.
#include "simgpu/obey.h"

#include <signal.h>
#include <unistd.h>

namespace rollcall::simgpu {
namespace {

constexpr int kFaultExitCode = 3;

void crash() {
  // The compiler must not see the address, or it makes a trap (SIGILL) of it.
  volatile int* volatile nowhere = nullptr;
  *nowhere = 0;
}

}  // namespace

void obey(Order order) {
  switch (order) {
    case Order::kNone:
      return;
    case Order::kCrash:
      crash();
      return;
    case Order::kStop:
      raise(SIGSTOP);
      while (getpid() == 1) pause();
      return;
    case Order::kExit:
      _exit(kFaultExitCode);
    case Order::kKill:
      kill(getpid(), SIGKILL);
      crash();
      return;
  }
}

}  // namespace rollcall::simgpu
