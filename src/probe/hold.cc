// rollcall-probe hold primary|nonprimary: a process that holds a context, for tests
// and measurements of others. It says so in one line and then waits.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "probe/commands.h"
#include "probe/cuda_driver.h"

namespace rollcall::probe {
namespace {

// Until standard input ends, or SIGTERM, SIGINT or SIGHUP.
void wait_for_the_end(int signal_fd) {
  char buffer[4096];
  for (;;) {
    pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {signal_fd, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if (fds[0].revents != 0) {
      const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return;
    }
  }
}

base::Result<void> hold(const std::string& mode, int signal_fd) {
  const auto driver = CudaDriver::load();
  if (!driver) return tl::unexpected(driver.error());
  const auto device = driver->open_device(0);
  if (!device) return tl::unexpected(device.error());
  gpu::CuContext context = nullptr;
  const bool primary = mode == "primary";
  auto done = primary ? driver->check("cuDevicePrimaryCtxRetain", driver->primary_retain(&context, *device))
                      : driver->check("cuCtxCreate", driver->ctx_create(&context, 0, *device));
  if (!done) return done;
  if (!write_out(fmt::format("warm_holder ready mode={} pid={}\n", mode, getpid()))) {
    return base::failure("standard output", "nobody takes what is written there");
  }
  wait_for_the_end(signal_fd);
  return primary ? driver->check("cuDevicePrimaryCtxRelease", driver->primary_release(*device))
                 : driver->check("cuCtxDestroy", driver->ctx_destroy(context));
}

}  // namespace

int run_hold(const Arguments& arguments) {
  if (arguments[0] != "primary" && arguments[0] != "nonprimary") {
    no_answer({}, {base::ErrorKind::kUsage, "hold",
                   fmt::format("expected primary or nonprimary, found '{}'", arguments[0]), ""});
    return kUsage;
  }
  // Blocked before the driver starts its threads, which inherit it.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const base::Fd signal_fd(signalfd(-1, &signals, SFD_CLOEXEC));
  if (const auto done = hold(arguments[0], signal_fd.get()); !done) return no_answer({}, done.error());
  return kAnswered;
}

}  // namespace rollcall::probe
