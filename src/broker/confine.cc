// See confine.h.
#include "broker/confine.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdint>

#include "base/peer.h"

namespace rollcall::broker {
namespace {

// Without arguments to look at.
constexpr int kAllowed[] = {
    // connections
    SCMP_SYS(accept4),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),
    SCMP_SYS(getsockopt),
    SCMP_SYS(close),
    // waiting
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(eventfd2),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(setitimer),
    SCMP_SYS(clock_gettime),
    // who a client is
    SCMP_SYS(pidfd_open),
    SCMP_SYS(read),
    SCMP_SYS(newfstatat),
    SCMP_SYS(fstat),
    SCMP_SYS(statx),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    // messages, and the socket file at the end
    SCMP_SYS(write),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(lseek),
    // memory, and the ways in which a program ends
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(tgkill),
#ifdef __SANITIZE_ADDRESS__
    // of the sanitizer's run time
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
    SCMP_SYS(readlink),
    SCMP_SYS(prctl),
    SCMP_SYS(getrusage),
    SCMP_SYS(prlimit64),
    SCMP_SYS(getrlimit),
#endif
};

int allow_all(scmp_filter_ctx filter) {
  for (const int call : kAllowed) {
    if (const int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0); error != 0) return error;
  }
  return 0;
}

// No memory is ever made executable.
int allow_memory(scmp_filter_ctx filter) {
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    const int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                                       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, uint64_t{0}));
    if (error != 0) return error;
  }
  return 0;
}

int allow_files(scmp_filter_ctx filter, bool writes_files) {
  int error = 0;
  for (const uint64_t request : {uint64_t{base::kPidfdGetInfo}, uint64_t{base::kPidfdGetPidNamespace}}) {
    error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, request));
    if (error != 0) return error;
  }
  if (!writes_files) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                            SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, uint64_t{O_RDONLY}));
  }
  for (const int call : {SCMP_SYS(openat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2)}) {
    if (error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0); error != 0) return error;
  }
  return 0;
}

}  // namespace

base::Result<void> drop_privileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return base::system_failure("hostpidd", "give up new privileges", errno);
  if (capng_get_caps_process() != 0)
    return base::failure("hostpidd", "cannot read its capabilities", "is /proc mounted?");
  const bool ptrace = capng_have_capability(CAPNG_PERMITTED, CAP_SYS_PTRACE) != 0;
  const bool may_bound = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) != 0;
  capng_clear(CAPNG_SELECT_BOTH);
  if (ptrace && capng_update(CAPNG_ADD, static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED),
                             CAP_SYS_PTRACE) != 0)
    return base::failure("hostpidd", "cannot choose its capabilities");
  if (capng_apply(may_bound ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS) != 0)
    return base::system_failure("hostpidd", "drop its capabilities", errno);
  return {};
}

base::Result<void> install_filter(bool writes_files) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (filter == nullptr) return base::failure("hostpidd", "cannot make a system call filter");
  // Looked up as a tree: a chain of comparisons would cost each call that has arguments to
  // look at (the others are remembered by the kernel) more than the call itself.
  int error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (error == 0) error = allow_all(filter);
  if (error == 0) error = allow_memory(filter);
  if (error == 0) error = allow_files(filter, writes_files);
  if (error == 0) error = seccomp_load(filter);
  seccomp_release(filter);
  if (error == 0) return {};
  return base::system_failure("hostpidd", "install its system call filter", -error,
                              "the kernel needs CONFIG_SECCOMP_FILTER; --no-filter runs without");
}

}  // namespace rollcall::broker
