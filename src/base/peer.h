// Who is at the other end of a Unix socket: asked of the kernel, never of the client.
// libc only. Used by whatever serves one: the broker and the simulated node.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>

namespace rollcall::base {

// SO_PEERCRED: the process that connected, as it was at that moment, numbered as the
// caller's PID namespace sees it (pid 0: not visible there). False with errno.
bool peer_credentials(int socket, ucred* credentials);

// A pidfd of the peer `pid`: of the connection itself where the kernel has that (Linux
// 6.5), which cannot be mistaken. Otherwise opened by PID and held against the start
// time, `start_time` or, where that is 0, the one that is read first. -1 with errno;
// ESRCH: the process is gone.
int open_peer_pidfd(int socket, pid_t pid, uint64_t start_time);

// Whether a pidfd's process has ended. While it has not, its PID is nobody else's.
bool pidfd_dead(int pidfd);

// The request of the ioctl that cgroup_id makes, for a filter of system calls: _IOWR(0xFF,
// 11, 64 bytes), PIDFD_GET_INFO of <linux/pidfd.h>.
inline constexpr unsigned long kPidfdGetInfo = 0xC040'FF0BUL;

// The same of peer_pid_namespace: _IO(0xFF, 5), PIDFD_GET_PID_NAMESPACE.
inline constexpr unsigned long kPidfdGetPidNamespace = 0xFF05UL;

// The inode of the PID namespace of the process `pid`: by its pidfd where the kernel has
// that (Linux 6.11), a sixth of the time that its /proc takes; else by /proc. 0: it cannot
// be read. Either way the right to read it is that of ptrace(2).
uint64_t peer_pid_namespace(int pidfd, pid_t pid);

// The id of a process's cgroup in the unified hierarchy, from its pidfd (Linux 6.13);
// 0: the kernel does not say.
uint64_t cgroup_id(int pidfd);

}  // namespace rollcall::base
