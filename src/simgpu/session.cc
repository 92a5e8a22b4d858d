// The daemon's life hangs on a pipe: it ends when the last writer is gone, which
// is this process, so a killed launcher leaves no node behind. It gets a process
// group of its own, so that Ctrl-C reaches the launcher, which then ends the
// node when its workers are done with it.
#include "simgpu/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/clock.h"
#include "base/process.h"
#include "simgpu/namespace_view.h"
#include "simgpu/protocol.h"

extern char** environ;

namespace rollcall::simgpu {
namespace {

constexpr int64_t kReadyDeadlineNs = 10 * base::kNsPerSecond;
constexpr int kStopDeadlineMs = 2000;
constexpr size_t kMaxReadyBytes = 4096;
// Where the daemon finds its descriptors. Their sources are moved above, so that
// giving one its place never overwrites another.
constexpr int kLifelineFd = 3;
constexpr int kReadyFd = 4;
constexpr int kFirstFreeFd = 10;
constexpr size_t kMaxSocketPath = 107;
constexpr std::string_view kSocketName = "node.sock";

struct Pipe {
  base::Fd read_end;
  base::Fd write_end;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return base::system_failure("simulated node", "make a pipe", errno);
  Pipe low{base::Fd(ends[0]), base::Fd(ends[1])};
  Pipe high{base::Fd(fcntl(low.read_end.get(), F_DUPFD_CLOEXEC, kFirstFreeFd)),
            base::Fd(fcntl(low.write_end.get(), F_DUPFD_CLOEXEC, kFirstFreeFd))};
  if (!high.read_end.valid() || !high.write_end.valid()) {
    return base::system_failure("simulated node", "make a pipe", errno);
  }
  return high;
}

std::string number_text(double value) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

base::Result<void> check(const SessionOptions& options) {
  if (access(options.simgpud.c_str(), X_OK) != 0) {
    return base::system_failure(options.simgpud.string(), "run the simulated node's daemon", errno,
                                "build or install it beside rollcall");
  }
  for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1"}) {
    const auto library = options.library_dir / name;
    if (access(library.c_str(), R_OK) != 0) {
      return base::system_failure(library.string(), "read the stand-in library", errno,
                                  "build or install it beside rollcall");
    }
  }
  if (!std::isfinite(options.time_scale) || options.time_scale < 0 || options.time_scale > kMaxTimeScale) {
    return base::usage_error("--time-scale", "expected a number from 0 to " + std::to_string(kMaxTimeScale) +
                                                 ", found " + number_text(options.time_scale));
  }
  if (options.gpus < kNoGpus || options.gpus > static_cast<int>(kMaxGpus)) {
    return base::usage_error("--gpus", "a simulated node has 0 to " + std::to_string(kMaxGpus) +
                                           " GPUs, found " + std::to_string(options.gpus));
  }
  if (options.max_clients < 0 || options.max_clients > kMaxMaxClients) {
    return base::usage_error("simulated node", "serves at most " + std::to_string(kMaxMaxClients) +
                                                   " processes, found " +
                                                   std::to_string(options.max_clients));
  }
  if (options.view == evidence::NvmlView::kUnknown) {
    return base::usage_error("--view", "a simulated node needs to know its view, global or translated");
  }
  return {};
}

// A folder that only this user can enter, with a path short enough for a socket.
base::Result<std::filesystem::path> make_private_folder() {
  const char* preferred = std::getenv("TMPDIR");
  for (const std::string_view parent :
       {std::string_view(preferred != nullptr ? preferred : ""), std::string_view("/tmp")}) {
    // Absolute: the clients may stand in another folder.
    std::error_code ignored;
    std::string folder = std::filesystem::absolute(parent, ignored).string() + "/rollcall-sim-XXXXXX";
    if (parent.empty() || folder.size() + 1 + kSocketName.size() > kMaxSocketPath) continue;
    if (mkdtemp(folder.data()) != nullptr) return std::filesystem::path(folder);
  }
  return base::system_failure("/tmp", "make a private folder for the simulated node", errno,
                              "set TMPDIR to a folder that you may write to");
}

std::vector<std::string> daemon_arguments(const SessionOptions& options, const std::string& socket) {
  std::vector<std::string> arguments = {options.simgpud.string(),
                                        "--socket",
                                        socket,
                                        "--profile",
                                        options.profile_file.string(),
                                        "--view",
                                        std::string(view_text(options.view)),
                                        "--time-scale",
                                        number_text(options.time_scale),
                                        "--seed",
                                        std::to_string(options.seed),
                                        "--max-clients",
                                        std::to_string(options.max_clients),
                                        "--lifeline-fd",
                                        std::to_string(kLifelineFd),
                                        "--ready-fd",
                                        std::to_string(kReadyFd),
                                        "--remove-folder"};
  if (options.gpus != 0) {
    arguments.insert(arguments.end(), {"--gpus", std::to_string(options.gpus == kNoGpus ? 0 : options.gpus)});
  }
  return arguments;
}

base::Result<pid_t> spawn(const std::vector<std::string>& arguments, int lifeline, int ready) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, lifeline, kLifelineFd);
  posix_spawn_file_actions_adddup2(&actions, ready, kReadyFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return base::system_failure(arguments[0], "start", error);
  return pid;
}

// What the daemon says before it serves: "ready", or why not.
base::Result<void> wait_until_ready(int fd, const std::string& program) {
  const int64_t deadline_ns = base::monotonic_ns() + kReadyDeadlineNs;
  std::string said;
  for (;;) {
    const int64_t left_ns = deadline_ns - base::monotonic_ns();
    if (left_ns <= 0) return base::failure(program, "was not ready within ten seconds");
    pollfd poll_for{fd, POLLIN, 0};
    if (poll(&poll_for, 1, static_cast<int>(left_ns / base::kNsPerMs) + 1) <= 0) continue;
    std::array<char, 256> buffer;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || said.size() > kMaxReadyBytes) break;
    said.append(buffer.data(), static_cast<size_t>(got));
    if (said == "ready\n") return {};
  }
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (said.empty()) return base::failure(program, "ended before it was ready and did not say why");
  return base::failure(program, said);
}

bool wait_for_end(int pidfd, int timeout_ms) {
  const int64_t deadline_ns = base::monotonic_ns() + timeout_ms * base::kNsPerMs;
  for (;;) {
    const int64_t left_ns = deadline_ns - base::monotonic_ns();
    if (left_ns <= 0) return false;
    pollfd poll_for{pidfd, POLLIN, 0};
    if (poll(&poll_for, 1, static_cast<int>(left_ns / base::kNsPerMs) + 1) > 0) return true;
  }
}

}  // namespace

struct Session::State {
  std::filesystem::path library_dir;
  std::filesystem::path folder;
  base::Fd lifeline;
  base::Fd pidfd;
  pid_t pid = -1;

  [[nodiscard]] std::string socket() const { return (folder / kSocketName).string(); }
};

base::Result<Session> Session::start(const SessionOptions& options) {
  if (auto result = check(options); !result) return tl::unexpected(result.error());
  auto lifeline = make_pipe();
  if (!lifeline) return tl::unexpected(lifeline.error());
  auto ready = make_pipe();
  if (!ready) return tl::unexpected(ready.error());
  auto folder = make_private_folder();
  if (!folder) return tl::unexpected(folder.error());

  auto state = std::make_unique<State>();
  state->library_dir = options.library_dir;
  state->folder = *folder;
  const auto pid =
      spawn(daemon_arguments(options, state->socket()), lifeline->read_end.get(), ready->write_end.get());
  Session session(std::move(state));  // from here on it cleans up
  if (!pid) return tl::unexpected(pid.error());
  session.state_->pid = *pid;
  session.state_->lifeline = std::move(lifeline->write_end);
  session.state_->pidfd = base::Fd(base::open_pidfd(*pid));
  if (!session.state_->pidfd.valid()) {
    return base::system_failure(options.simgpud.string(), "open a pidfd", errno,
                                "Linux 5.3 or later is needed");
  }
  ready->write_end.reset();
  if (auto result = wait_until_ready(ready->read_end.get(), options.simgpud.string()); !result) {
    return tl::unexpected(result.error());
  }
  return session;
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    stop();
    state_ = std::move(other.state_);
  }
  return *this;
}
Session::~Session() {
  stop();
}

std::vector<std::pair<std::string, std::string>> Session::environment(
    const std::string& inherited_library_path) const {
  std::string path = state_->library_dir.string();
  if (!inherited_library_path.empty()) path += ":" + inherited_library_path;
  return {{"LD_LIBRARY_PATH", path}, {kSocketVariable, state_->socket()}};
}

int Session::pidfd() const {
  return state_->pidfd.get();
}

pid_t Session::pid() const {
  return state_->pid;
}

void Session::stop() {
  if (!state_) return;
  state_->lifeline.reset();
  if (state_->pid > 0) {
    const int pidfd = state_->pidfd.get();
    if (pidfd < 0) {
      kill(state_->pid, SIGKILL);
    } else {
      // A child of ours that has not exec'd yet holds the lifeline too, hence the signal.
      base::signal_pidfd(pidfd, SIGTERM);
      if (!wait_for_end(pidfd, kStopDeadlineMs)) base::signal_pidfd(pidfd, SIGKILL);
    }
    while (waitpid(state_->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    state_->pid = -1;
  }
  // The daemon has done this itself, unless it was killed.
  std::error_code error;
  if (!state_->folder.empty()) {
    std::filesystem::remove(state_->socket(), error);
    std::filesystem::remove(state_->folder, error);
    state_->folder.clear();
  }
}

}  // namespace rollcall::simgpu
