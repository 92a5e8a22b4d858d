// See neighbours.h.
#include "study/neighbours.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/clock.h"
#include "base/process.h"

namespace rollcall::study {
namespace {

// How long the supervisor has to end its children before it is killed; they die with it.
constexpr int kStopDeadlineMs = 8000;

bool becomes_readable(int fd, int64_t deadline_ns) {
  for (;;) {
    const int64_t left_ms = (deadline_ns - base::monotonic_ns()) / base::kNsPerMs;
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, left_ms > 0 ? static_cast<int>(left_ms) : 0);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

enum class Ready { kYes, kNo, kInterrupted };

// Whether "ready" came before the end of the text, the deadline and an interruption.
Ready await_ready(int fd, int interrupt_fd, int64_t deadline_ns) {
  std::string text;
  while (text.find('\n') == std::string::npos && text.size() < 64) {
    const int64_t left_ms = (deadline_ns - base::monotonic_ns()) / base::kNsPerMs;
    pollfd waits[] = {{fd, POLLIN, 0}, {interrupt_fd, POLLIN, 0}};  // a negative descriptor is ignored
    const int ready = poll(waits, 2, left_ms > 0 ? static_cast<int>(left_ms) : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    if (waits[1].revents != 0) return Ready::kInterrupted;
    std::array<char, 64> buffer{};
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text.starts_with("ready\n") ? Ready::kYes : Ready::kNo;
}

}  // namespace

base::Result<std::optional<Neighbours>> Neighbours::start(const std::filesystem::path& probe, int count,
                                                          const EnvironmentBlock& environment,
                                                          const std::filesystem::path& log,
                                                          int64_t deadline_ms, int interrupt_fd) {
  int input[2] = {-1, -1};
  int output[2] = {-1, -1};
  if (pipe2(input, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  const base::Fd input_end(input[0]);
  base::Fd lifeline(input[1]);
  if (pipe2(output, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  const base::Fd ready(output[0]);
  base::Fd output_end(output[1]);
  const base::Fd complaints(open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!complaints.valid()) return base::system_failure(log.string(), "create", errno);

  std::string name = "rollcall-probe";
  std::string command = "neighbours";
  std::string number = std::to_string(count);
  const std::array<char*, 4> arguments = {name.data(), command.data(), number.data(), nullptr};
  SpawnRequest request;
  request.program = probe.c_str();
  request.arguments = arguments.data();
  request.environment = environment.get();
  request.input_fd = input_end.get();
  request.output_fd = output_end.get();
  request.error_fd = complaints.get();
  auto child = spawn(request);
  if (!child) return tl::unexpected(child.error());
  output_end.reset();  // so that its end is ours to see
  Neighbours neighbours(std::move(*child), std::move(lifeline));
  switch (await_ready(ready.get(), interrupt_fd, base::monotonic_ns() + deadline_ms * base::kNsPerMs)) {
    case Ready::kYes:
      return std::optional<Neighbours>(std::move(neighbours));
    case Ready::kInterrupted:
      return std::optional<Neighbours>();
    case Ready::kNo:
      break;
  }
  return base::failure("--neighbours",
                       fmt::format("{} neighbours could not be brought to hold a context", count),
                       "rollcall doctor shows whether the driver works here");
}

Neighbours::~Neighbours() {
  (void)stop();
}

base::Result<void> Neighbours::stop() {
  if (!child_.pidfd.valid()) return {};
  const bool ended_before = becomes_readable(child_.pidfd.get(), 0);
  lifeline_.reset();
  if (!becomes_readable(child_.pidfd.get(), base::monotonic_ns() + kStopDeadlineMs * base::kNsPerMs)) {
    base::signal_pidfd(child_.pidfd.get(), SIGKILL);
  }
  siginfo_t info{};
  int waited = -1;
  do {
    waited = waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED);
  } while (waited != 0 && errno == EINTR);
  child_.pidfd.reset();
  if (!ended_before && waited == 0 && info.si_code == CLD_EXITED && info.si_status == 0) return {};
  return base::failure("neighbours",
                       ended_before ? "stopped by themselves during the run" : "did not end as told");
}

}  // namespace rollcall::study
