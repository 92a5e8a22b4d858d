// See observe.h. Plain fork and exec with pipes; everything that allocates is made
// before the fork, since the asking program may have threads.
#include "probe/observe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"
#include "evidence/json_object.h"

extern char** environ;

namespace rollcall::probe {
namespace {

constexpr size_t kMaxOutputBytes = size_t{1} << 20;
constexpr size_t kMaxErrorBytes = size_t{64} << 10;
// A killed process that is still there after this is stuck in the kernel.
constexpr int kKillMs = 10'000;

struct Pipe {
  base::Fd read;
  base::Fd write;
};

base::Result<Pipe> make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  return Pipe{base::Fd(fds[0]), base::Fd(fds[1])};
}

std::vector<std::string> environment_of(const ProbeProgram& program) {
  std::map<std::string, std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string text(*at);
    const size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : program.environment) {
    variables.erase(name);
    if (!value.empty()) variables[name] = value;
  }
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Running {
  pid_t pid = -1;
  base::Fd pidfd;
  Pipe output;
  Pipe errors;
};

// In the child: system calls only.
[[noreturn]] void become(const char* file, char* const* arguments, char* const* environment, pid_t parent,
                         int output, int errors, int failure_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);  // ended as a group, with the processes that it starts
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(errors, STDERR_FILENO) >= 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(file, arguments, environment);
  }
  const int error = errno;
  if (write(failure_fd, &error, sizeof error) != sizeof error) _exit(126);
  _exit(127);
}

base::Result<Running> start(const ProbeProgram& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program.file.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_of(program);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  auto output = make_pipe();
  auto errors = make_pipe();
  auto failed = make_pipe();
  if (!output || !errors || !failed) {
    return tl::unexpected(!output ? output.error() : !errors ? errors.error() : failed.error());
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return base::system_failure("fork", "start " + words[0], errno);
  if (pid == 0) {
    become(words[0].c_str(), argv.data(), envp.data(), parent, output->write.get(), errors->write.get(),
           failed->write.get());
  }
  setpgid(pid, pid);  // whoever is first; both may fail after the exec, which is too late to matter
  Running running{pid, base::Fd(base::open_pidfd(pid)), std::move(*output), std::move(*errors)};
  running.output.write.reset();
  running.errors.write.reset();
  failed->write.reset();
  int error = 0;
  ssize_t got = -1;
  do {
    got = read(failed->read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  const bool watched = running.pidfd.valid();
  if (got == sizeof error || !watched) {
    if (got != sizeof error) kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (got == sizeof error) return base::system_failure(words[0], "execute", error);
    return base::failure("pidfd_open", "cannot watch " + words[0], "Linux 5.3 or newer is needed");
  }
  return running;
}

// Reads what is there. False at the end of the stream.
bool drain(int fd, std::string* text) {
  char buffer[65536];
  const ssize_t got = read(fd, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text->append(buffer, static_cast<size_t>(got));
  return got > 0;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const size_t at = text.rfind('\n');
  return evidence::clean_text(at == std::string::npos ? text : text.substr(at + 1));
}

std::string name_of(const ProbeProgram& program, const std::vector<std::string>& arguments) {
  return fmt::format("{} {}", program.file.filename().string(), fmt::join(arguments, " "));
}

enum class Ending { kExited, kDeadline, kTooMuch };

// Until the program has ended and nobody holds its output any more than that.
Ending follow(Running& running, int64_t deadline_ms, std::string* output, std::string* errors) {
  const int64_t end_ns = base::monotonic_ns() + deadline_ms * base::kNsPerMs;
  bool output_open = true;
  bool errors_open = true;
  for (;;) {
    const int64_t left_ms = (end_ns - base::monotonic_ns()) / base::kNsPerMs;
    if (left_ms <= 0) return Ending::kDeadline;
    pollfd fds[] = {{output_open ? running.output.read.get() : -1, POLLIN, 0},
                    {errors_open ? running.errors.read.get() : -1, POLLIN, 0},
                    {running.pidfd.get(), POLLIN, 0}};
    if (poll(fds, 3, static_cast<int>(std::min<int64_t>(left_ms, 60'000))) < 0 && errno != EINTR) {
      return Ending::kDeadline;
    }
    const bool ended = fds[2].revents != 0;
    if (fds[0].revents != 0) output_open = drain(fds[0].fd, output);
    if (fds[1].revents != 0) errors_open = drain(fds[1].fd, errors);
    if (output->size() > kMaxOutputBytes) return Ending::kTooMuch;
    if (errors->size() > kMaxErrorBytes) errors->erase(0, errors->size() - kMaxErrorBytes / 2);
    // What a process of its own still holds open is not waited for once it has ended.
    if (ended && fds[0].revents == 0 && fds[1].revents == 0) return Ending::kExited;
  }
}

}  // namespace

base::Result<ProgramEnd> run_to_end(const ProbeProgram& program, const std::vector<std::string>& arguments) {
  const std::string what = name_of(program, arguments);
  auto running = start(program, arguments);
  if (!running) return tl::unexpected(running.error());
  ProgramEnd end;
  std::string errors;
  const Ending ending = follow(*running, program.deadline_ms, &end.output, &errors);
  // Before it is reaped, so that the group's number is still its own. What it started
  // ends with it.
  kill(-running->pid, SIGKILL);
  pollfd gone{running->pidfd.get(), POLLIN, 0};
  if (poll(&gone, 1, kKillMs) <= 0) {
    return base::failure(what, "hangs in the kernel and cannot be killed",
                         "see dmesg; the machine may have to be restarted");
  }
  pid_t reaped = -1;
  do {
    reaped = waitpid(running->pid, &end.status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (reaped != running->pid) return base::system_failure(what, "learn how it ended", errno);
  end.last_error_line = last_line(std::move(errors));
  if (ending == Ending::kDeadline) {
    return base::failure(what,
                         fmt::format("not done within {} ms{}", program.deadline_ms,
                                     end.last_error_line.empty() ? "" : "; it said: " + end.last_error_line),
                         "a driver that hangs or a GPU that is asleep: look at nvidia-smi and dmesg");
  }
  if (ending == Ending::kTooMuch) {
    return base::failure(what, fmt::format("printed more than {} bytes", kMaxOutputBytes));
  }
  return end;
}

base::Result<std::string> ask(const ProbeProgram& program, const std::vector<std::string>& arguments) {
  auto end = run_to_end(program, arguments);
  if (!end) return tl::unexpected(end.error());
  const std::string what = name_of(program, arguments);
  const std::string& said = end->last_error_line;
  if (WIFSIGNALED(end->status)) {
    return base::failure(
        what, fmt::format("ended by signal {}{}", WTERMSIG(end->status), said.empty() ? "" : ": " + said));
  }
  if (WEXITSTATUS(end->status) != 0) {
    return base::failure(what, said.empty() ? fmt::format("exit status {}", WEXITSTATUS(end->status)) : said);
  }
  return std::move(end->output);
}

namespace {

// An answer that cannot be read is no mistake of the user's.
template <typename Parse>
auto ask_and_parse(const ProbeProgram& program, const char* question, Parse parse) {
  return ask(program, {question}).and_then(parse).map_error([](base::Error error) {
    error.kind = base::ErrorKind::kFailure;
    return error;
  });
}

}  // namespace

base::Result<NodeFacts> observe_node(const ProbeProgram& program) {
  return ask_and_parse(program, "node", parse_node_facts);
}

base::Result<std::vector<ListedProcess>> list_processes(const ProbeProgram& program) {
  return ask_and_parse(program, "processes", parse_processes);
}

base::Result<ViewFacts> observe_view(const ProbeProgram& program) {
  return ask_and_parse(program, "view", parse_view_facts);
}

}  // namespace rollcall::probe
