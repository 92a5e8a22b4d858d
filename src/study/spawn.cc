// vfork, not fork: the child only moves descriptors and execs, and copying the
// launcher's page tables for each of thousands of workers is what would make
// the start slow. It also makes a failed exec visible: the child shares our
// memory until then and leaves its errno there. That sharing is why the child's
// part is one function that calls nothing but the kernel.
#include "study/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/process.h"

namespace rollcall::study {
namespace {

constexpr int kFirstInherited = 3;
// Where the sources are parked while the targets are filled, so that neither
// overwrites the other.
constexpr int kParkingFd = 16;
constexpr size_t kMaxInherited = 8;

struct ChildPlan {
  const SpawnRequest* request;
  int null_fd;
  pid_t parent;
  const sigset_t* signals;
  volatile int error;
};

// Runs in the child, on the parent's memory.
[[noreturn]] void become_worker(ChildPlan* plan) {
  const SpawnRequest& request = *plan->request;
  int parked[kMaxInherited];
  const auto give_up = [plan] {
    plan->error = errno;
    _exit(127);
  };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
  if (getppid() != plan->parent) _exit(127);  // the launcher died before the signal was set
  // A group of its own: what is typed at the terminal is for the launcher, which
  // ends its workers in order.
  if (setpgid(0, 0) != 0) give_up();
  for (size_t i = 0; i < request.inherited.size(); ++i) {
    parked[i] = fcntl(request.inherited[i], F_DUPFD_CLOEXEC, kParkingFd);
    if (parked[i] < 0) give_up();
  }
  const auto park = [](int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, kParkingFd); };
  const int input = park(request.input_fd >= 0 ? request.input_fd : plan->null_fd);
  const int output = park(request.output_fd);
  const int error = park(request.error_fd >= 0 ? request.error_fd : request.output_fd);
  if (input < 0 || output < 0 || error < 0 || dup2(input, STDIN_FILENO) < 0 ||
      dup2(output, STDOUT_FILENO) < 0 || dup2(error, STDERR_FILENO) < 0) {
    give_up();
  }
  for (size_t i = 0; i < request.inherited.size(); ++i) {
    if (dup2(parked[i], kFirstInherited + static_cast<int>(i)) < 0) give_up();
  }
  signal(SIGXFSZ, SIG_DFL);  // the launcher ignores it; a program of its own would not
  sigprocmask(SIG_SETMASK, plan->signals, nullptr);
  execve(request.program, request.arguments, request.environment);
  give_up();
  __builtin_unreachable();
}

}  // namespace

EnvironmentBlock::EnvironmentBlock(const Variables& variables) {
  texts_.reserve(variables.size());
  for (const auto& [name, value] : variables) texts_.push_back(name + "=" + value);
  for (std::string& text : texts_) pointers_.push_back(text.data());
  pointers_.push_back(nullptr);
}

base::Result<Child> spawn(const SpawnRequest& request) {
  if (request.inherited.size() > kMaxInherited) {
    return base::failure(request.program, "more descriptors to inherit than foreseen");
  }
  const base::Fd null_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_fd.valid()) return base::system_failure("/dev/null", "open", errno);
  // No signal may be handled in the child while it runs on our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  sigset_t none;
  sigemptyset(&none);
  ChildPlan plan{&request, null_fd.get(), getpid(), &none, 0};
  const pid_t pid = vfork();
  if (pid == 0) become_worker(&plan);
  const int fork_error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return base::system_failure("fork", "start a worker", fork_error,
                                "too many processes; see 'ulimit -u', kernel.pid_max and pids.max");
  }
  Child child{pid, base::Fd(base::open_pidfd(pid))};
  const int pidfd_error = errno;
  if (plan.error != 0 || !child.pidfd.valid()) {
    siginfo_t info{};
    if (plan.error == 0) kill(pid, SIGKILL);  // ours and not reaped yet: the PID is still its own
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    if (plan.error != 0) return base::system_failure(request.program, "execute", plan.error);
    return base::system_failure("pidfd_open", "watch a worker", pidfd_error, "Linux 5.3 or newer is needed");
  }
  return child;
}

}  // namespace rollcall::study
