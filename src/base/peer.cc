// The numbers that Debian 12's headers lack stand here, with the kernel that brought
// each of them. An older kernel answers with an error, which is then "not known".
#include "base/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/process.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace rollcall::base {
namespace {

// struct pidfd_info as Linux 6.13 had it first; the kernel fills what fits.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t pid, tgid, ppid;
  uint32_t ids[8];
  uint32_t spare;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kInfoCgroupId = 1U << 2;
static_assert(kPidfdGetInfo == _IOWR(0xFF, 11, PidfdInfo));
static_assert(kPidfdGetPidNamespace == _IO(0xFF, 5));

}  // namespace

bool peer_credentials(int socket, ucred* credentials) {
  socklen_t length = sizeof *credentials;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, &length) == 0;
}

int open_peer_pidfd(int socket, pid_t pid, uint64_t start_time) {
  int raw = -1;
  socklen_t length = sizeof raw;
  // The kernel opens it close-on-exec.
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &raw, &length) == 0) return raw;
  // Any other error is about this peer: that it was reaped (EINVAL, ESRCH), or that there
  // are no descriptors. Its number may then be somebody else's.
  if (errno != ENOPROTOOPT) {
    if (errno == EINVAL || errno == ENODATA) errno = ESRCH;
    return -1;
  }
  if (start_time == 0) start_time = process_start_time(pid);
  Fd fd(open_pidfd(pid));
  if (!fd.valid()) return -1;
  if (start_time == 0 || process_start_time(pid) != start_time || pidfd_dead(fd.get())) {
    errno = ESRCH;
    return -1;
  }
  return fd.release();
}

bool pidfd_dead(int pidfd) {
  pollfd poll_for{pidfd, POLLIN, 0};
  int ready = 0;
  do {  // a signal that comes meanwhile says nothing about the process
    ready = poll(&poll_for, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

uint64_t peer_pid_namespace(int pidfd, pid_t pid) {
  const Fd fd(ioctl(pidfd, kPidfdGetPidNamespace, 0));
  struct statx info {};
  if (!fd.valid() || statx(fd.get(), "", AT_EMPTY_PATH, STATX_INO, &info) != 0)
    return pid_namespace_inode(pid);
  return info.stx_ino;
}

uint64_t cgroup_id(int pidfd) {
  PidfdInfo info{};
  info.mask = kInfoCgroupId;
  if (ioctl(pidfd, kPidfdGetInfo, &info) != 0 || (info.mask & kInfoCgroupId) == 0) return 0;
  return info.cgroup_id;
}

}  // namespace rollcall::base
