// vfork, not fork: the child only moves descriptors and execs, and copying the
// launcher's page tables for each of thousands of workers is what would make
// the start slow. It also makes a failed exec visible: the child shares our
// memory until then and leaves its errno there. That sharing is why the child's
// part is one function that calls nothing but the kernel.
//
// A child in other namespaces takes a go-between. Who enters a PID namespace is not in it,
// only its later children are; and the launcher could not undo that for itself: in a user
// namespace of its own it has no right to its old PID namespace any more. So a second
// vforked child enters, makes the worker its sibling (CLONE_PARENT), and is gone.
#include "study/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
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
constexpr size_t kStackBytes = 64 << 10;

// For what runs in the child: it ends without returning, so what a sanitiser notes of its
// frames on our stack would stay noted.
#define ON_BORROWED_STACK __attribute__((no_sanitize("address", "thread")))

struct ChildPlan {
  const SpawnRequest* request;
  int null_fd;
  pid_t parent;
  const sigset_t* signals;
  char* stack_end;            // of the worker's stack, for a worker that a go-between starts
  volatile pid_t pid;         // of that worker
  const char* volatile step;  // what it was doing when it failed
  volatile int error;
};

ON_BORROWED_STACK bool goes_elsewhere(const SpawnRequest& request) {
  return request.enters != nullptr || request.founds != nullptr;
}

[[noreturn]] ON_BORROWED_STACK void give_up(ChildPlan* plan) {
  plan->error = errno;
  _exit(127);
}

// The flags that a mount has must be said again where it is mounted anew: in a user
// namespace they are locked.
unsigned long mount_flags(const char* folder) {
  struct statvfs info {};
  if (statvfs(folder, &info) != 0) return 0;
  unsigned long flags = 0;
  if ((info.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((info.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((info.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((info.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((info.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((info.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  return flags;
}

// Before exec, because a program that an ordinary user starts loses there the rights
// that it has in a user namespace. The PID namespace is new already.
ON_BORROWED_STACK void found_namespaces(ChildPlan* plan) {
  const char* folder = plan->request->founds->read_only_folder;
  plan->step = "make a mount and an IPC namespace";
  if (unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0) give_up(plan);
  // Or what is mounted here would appear outside as well.
  plan->step = "make the mounts of a new namespace its own";
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) give_up(plan);
  plan->step = "mount /proc in a new namespace";
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) give_up(plan);
  if (folder == nullptr) return;
  plan->step = "mount the broker's folder in a new namespace";
  const unsigned long flags = mount_flags(folder);
  if (mount(folder, folder, nullptr, MS_BIND, nullptr) != 0 ||
      mount(nullptr, folder, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | flags, nullptr) != 0) {
    give_up(plan);
  }
}

ON_BORROWED_STACK void enter_namespaces(ChildPlan* plan) {
  const NamespaceDoor& door = *plan->request->enters;
  plan->step = "enter a namespace";
  if (setns(door.ipc.get(), CLONE_NEWIPC) != 0 || setns(door.mount.get(), CLONE_NEWNS) != 0 ||
      fchdir(door.root.get()) != 0 || chroot(".") != 0 || fchdir(door.folder.get()) != 0) {
    give_up(plan);
  }
}

// Runs in the child, on the parent's memory.
[[noreturn]] ON_BORROWED_STACK void become_worker(ChildPlan* plan) {
  const SpawnRequest& request = *plan->request;
  int parked[kMaxInherited];
  plan->step = "execute";
  const auto give_up = [plan]() ON_BORROWED_STACK { study::give_up(plan); };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
  // If the launcher died before the signal was set: gone. From another PID namespace the
  // launcher cannot be seen (getppid() is 0 whether it lives or not). There its death is
  // told by the lifeline of PID 1, which ends with all that are in its namespace; PID 1
  // itself reads it first of all.
  if (!goes_elsewhere(request) && getppid() != plan->parent) _exit(127);
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
  if (request.founds != nullptr) found_namespaces(plan);
  if (request.enters != nullptr) enter_namespaces(plan);
  plan->step = "execute";
  signal(SIGXFSZ, SIG_DFL);  // the launcher ignores it; a program of its own would not
  sigprocmask(SIG_SETMASK, plan->signals, nullptr);
  execve(request.program, request.arguments, request.environment);
  give_up();
  __builtin_unreachable();
}

ON_BORROWED_STACK int become_worker_elsewhere(void* plan) {
  become_worker(static_cast<ChildPlan*>(plan));
}

// Runs in the go-between, on the launcher's memory.
ON_BORROWED_STACK int start_elsewhere(void* plan_data) {
  auto* plan = static_cast<ChildPlan*>(plan_data);
  const SpawnRequest& request = *plan->request;
  plan->step = "make a PID namespace";
  if (request.founds != nullptr && unshare(CLONE_NEWPID) != 0) give_up(plan);
  plan->step = "enter a PID namespace";
  if (request.enters != nullptr && setns(request.enters->pid.get(), CLONE_NEWPID) != 0) give_up(plan);
  plan->step = "start a process in a PID namespace";
  const pid_t pid =
      clone(become_worker_elsewhere, plan->stack_end, CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD, plan);
  if (pid < 0) give_up(plan);
  plan->pid = pid;
  return 0;  // which ends it
}

void reap(pid_t pid) {
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
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
  // Within our own stack, so that to the sanitisers these are of this thread.
  struct alignas(16) {
    char worker[kStackBytes];
    char go_between[kStackBytes];
  } stack;
  // No signal may be handled in the child while it runs on our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  sigset_t none;
  sigemptyset(&none);
  ChildPlan plan{&request, null_fd.get(), getpid(), &none, stack.worker + kStackBytes, -1, "", 0};
  pid_t pid = -1;
  if (goes_elsewhere(request)) {
    // As vfork; the sanitisers make a fork of that one, and we must see what it found out.
    pid = clone(start_elsewhere, stack.go_between + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &plan);
  } else {
    pid = vfork();
    if (pid == 0) become_worker(&plan);
  }
  const int fork_error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return base::system_failure("fork", "start a worker", fork_error,
                                "too many processes; see 'ulimit -u', kernel.pid_max and pids.max");
  }
  if (goes_elsewhere(request)) {
    reap(pid);
    pid = plan.pid;
  }
  if (plan.error != 0) {
    if (pid > 0) reap(pid);
    return base::system_failure(request.program, plan.step, plan.error);
  }
  // Nobody may ever be signalled as -1, which is everybody.
  if (pid <= 0) return base::failure(request.program, "was not started, and nobody knows why");
  Child child{pid, base::Fd(base::open_pidfd(pid))};
  if (!child.pidfd.valid()) {
    const int error = errno;
    kill(pid, SIGKILL);  // ours and not reaped yet: the PID is still its own
    reap(pid);
    return base::system_failure("pidfd_open", "watch a worker", error, "Linux 5.3 or newer is needed");
  }
  return child;
}

}  // namespace rollcall::study
