// rollcall-probe neighbours N: other people's jobs on the node. Each of the N is,
// over and over, a fresh process that initialises the driver, makes a context,
// allocates, frees, releases and ends, so that a node under measurement sees
// contexts and PIDs come and go.
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/fd.h"
#include "probe/commands.h"
#include "probe/cuda_driver.h"
#include "probe/self_program.h"

namespace rollcall::probe {
namespace {

constexpr long kMaxNeighbours = 64;
constexpr int kMaxFailures = 10;  // in a row
constexpr size_t kAllocationBytes = size_t{2} << 20;
// Among a hundred contexts one was seen to take half a minute to be made.
constexpr int64_t kLifeNs = 300 * base::kNsPerSecond;
constexpr int64_t kEndNs = 5 * base::kNsPerSecond;
constexpr int kTickMs = 1000;

struct Neighbour {
  pid_t pid = -1;
  int64_t started_ns = 0;
  base::Fd errors;  // a memory file, its standard error
  int failures = 0;
  bool made_a_context = false;
};

base::Result<void> live(const CudaDriver& driver) {
  const auto device = driver.open_device(0);
  if (!device) return tl::unexpected(device.error());
  gpu::CuContext context = nullptr;
  auto done = driver.check("cuDevicePrimaryCtxRetain", driver.primary_retain(&context, *device));
  if (!done) return done;
  // A retained primary context is not current by itself.
  if (done = driver.check("cuCtxSetCurrent", driver.ctx_set_current(context)); !done) return done;
  gpu::CuDevicePtr memory = 0;
  if (done = driver.check("cuMemAlloc", driver.mem_alloc(&memory, kAllocationBytes)); !done) return done;
  if (done = driver.check("cuMemFree", driver.mem_free(memory)); !done) return done;
  return driver.check("cuDevicePrimaryCtxRelease", driver.primary_release(*device));
}

class Neighbourhood {
 public:
  Neighbourhood(size_t count, std::string self) : self_(std::move(self)), neighbours_(count) {}

  base::Result<void> start(Neighbour* neighbour) {
    if (!neighbour->errors.valid()) neighbour->errors.reset(memfd_create("errors", MFD_CLOEXEC));
    if (!neighbour->errors.valid() || ftruncate(neighbour->errors.get(), 0) != 0 ||
        lseek(neighbour->errors.get(), 0, SEEK_SET) != 0) {
      return base::system_failure("memfd_create", "keep what a neighbour says", errno);
    }
    const pid_t parent = getpid();
    neighbour->started_ns = base::monotonic_ns();
    neighbour->pid = fork();
    if (neighbour->pid < 0) return base::system_failure("fork", "start a neighbour", errno);
    if (neighbour->pid == 0) become(parent, neighbour->errors.get());
    return {};
  }

  base::Result<void> start_all() {
    for (Neighbour& neighbour : neighbours_) {
      if (auto done = start(&neighbour); !done) return done;
    }
    return {};
  }

  // Reaps who ended. With `again`, starts the next life of each; an error if one
  // failed too often in a row.
  base::Result<void> reap(bool again) {
    for (Neighbour& neighbour : neighbours_) {
      if (neighbour.pid < 0) continue;
      int status = 0;
      if (waitpid(neighbour.pid, &status, WNOHANG) != neighbour.pid) {
        if (base::monotonic_ns() - neighbour.started_ns > kLifeNs) kill(neighbour.pid, SIGKILL);
        continue;
      }
      neighbour.pid = -1;
      if (auto done = note(&neighbour, status); !done) return done;
      if (!again) continue;
      if (auto done = start(&neighbour); !done) return done;
    }
    return {};
  }

  // Each of them has made a context.
  [[nodiscard]] bool ready() const {
    return std::all_of(neighbours_.begin(), neighbours_.end(),
                       [](const Neighbour& neighbour) { return neighbour.made_a_context; });
  }

  // Waits for the last lives to end; who does not is killed.
  void end() {
    const int64_t start_ns = base::monotonic_ns();
    bool killed = false;
    while (alive() && base::monotonic_ns() - start_ns < 2 * kEndNs) {
      if (!killed && base::monotonic_ns() - start_ns >= kEndNs) {
        for (const Neighbour& neighbour : neighbours_) {
          if (neighbour.pid > 0) kill(neighbour.pid, SIGKILL);
        }
        killed = true;
      }
      (void)reap(false);
      poll(nullptr, 0, 10);
    }
  }

 private:
  [[noreturn]] void become(pid_t parent, int errors) {
    die_with_parent(parent);
    unblock_signals();
    signal(SIGPIPE, SIG_DFL);
    if (dup2(errors, STDERR_FILENO) < 0) _exit(127);
    char name[] = "rollcall-probe";
    char question[] = "neighbour";
    char* const arguments[] = {name, question, nullptr};
    execv(self_.c_str(), arguments);
    _exit(127);
  }

  base::Result<void> note(Neighbour* neighbour, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kAnswered) {
      neighbour->failures = 0;
      neighbour->made_a_context = true;
      return {};
    }
    if (++neighbour->failures < kMaxFailures) return {};
    char text[512] = {};
    const ssize_t got = pread(neighbour->errors.get(), text, sizeof text - 1, 0);
    std::string reason = got > 0 ? evidence::clean_text(text) : std::string();
    reason = reason.substr(0, reason.find('\n'));
    if (reason.empty()) {
      reason = WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                   : fmt::format("exit status {}", WEXITSTATUS(status));
    }
    return base::failure("neighbours", fmt::format("one failed {} times in a row: {}", kMaxFailures, reason));
  }

  [[nodiscard]] bool alive() const {
    return std::any_of(neighbours_.begin(), neighbours_.end(),
                       [](const Neighbour& neighbour) { return neighbour.pid > 0; });
  }

  std::string self_;
  std::vector<Neighbour> neighbours_;
};

// SIGCHLD, and what ends us, as a descriptor.
base::Fd watch_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return base::Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Waits until something happened. True if it is time to end.
bool told_to_end(int signal_fd) {
  pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {signal_fd, POLLIN, 0}};
  if (poll(fds, 2, kTickMs) < 0) return errno != EINTR;
  signalfd_siginfo info{};
  while (read(signal_fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) return true;
  }
  if (fds[0].revents == 0) return false;
  char buffer[4096];
  const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
  return got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
}

base::Result<void> keep_going(Neighbourhood* neighbourhood, int signal_fd) {
  if (auto done = neighbourhood->start_all(); !done) return done;
  bool said = false;
  while (!told_to_end(signal_fd)) {
    if (auto done = neighbourhood->reap(true); !done) return done;
    if (said || !neighbourhood->ready()) continue;
    if (!write_out("ready\n")) return base::failure("standard output", "nobody takes what is written there");
    said = true;
  }
  return {};
}

}  // namespace

int run_neighbours(const Arguments& arguments) {
  char* end = nullptr;
  const long count = std::strtol(arguments[0].c_str(), &end, 10);
  if (end == arguments[0].c_str() || *end != '\0' || count < 1 || count > kMaxNeighbours) {
    std::fputs(
        fmt::format("neighbours: expected a number from 1 to {}, found '{}'\n", kMaxNeighbours, arguments[0])
            .c_str(),
        stderr);
    return kUsage;
  }
  const base::Fd signal_fd = watch_signals();
  Neighbourhood neighbourhood(static_cast<size_t>(count), self_path());
  const auto done = keep_going(&neighbourhood, signal_fd.get());
  neighbourhood.end();
  if (done) return kAnswered;
  std::fputs((done.error().line() + "\n").c_str(), stderr);
  return kNoAnswer;
}

int run_neighbour(const Arguments&) {
  const auto driver = CudaDriver::load();
  const auto done = driver ? live(*driver) : tl::unexpected(driver.error());
  if (done) return kAnswered;
  std::fputs((done.error().line() + "\n").c_str(), stderr);
  return kNoAnswer;
}

}  // namespace rollcall::probe
