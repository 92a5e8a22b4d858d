// The directory is opened once, and what is checked is what is then used: the socket is
// reached through that descriptor, so that nobody can put another in its place in
// between. Parents of the directory are not looked at (/var/run is a link on many
// systems): whoever could move them would need another directory and socket of a
// trusted owner, and a server that runs as one.
#include "hostpid/broker_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

namespace rollcall::hostpid {
namespace {

using Open = BrokerSocket::Open;
using Io = BrokerSocket::Io;

constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
// All users that have no number in a user namespace have this one there.
constexpr uint32_t kNobody = 65534;
constexpr uint64_t kInitialUserNamespaceInode = 4026531837ULL;  // PROC_USER_INIT_INO

bool trusted(uint32_t uid, uint32_t trusted_uid) {
  return uid == 0 || uid == trusted_uid;
}

bool in_initial_user_namespace() {
  struct statx info {};
  return statx(AT_FDCWD, "/proc/self/ns/user", 0, STATX_INO, &info) == 0 &&
         info.stx_ino == kInitialUserNamespaceInode;
}

// Nobody is one user only in the first user namespace; elsewhere whoever trusts it trusts
// every user of the host, unless it is what the caller itself runs as.
uint32_t narrowed(uint32_t trusted_uid) {
  const bool one_user = trusted_uid != kNobody || geteuid() == kNobody || in_initial_user_namespace();
  return one_user ? trusted_uid : 0;
}

Open from_errno(int error) {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return Open::kNotThere;
    case EAGAIN:
      return Open::kBacklogFull;
    case EACCES:
    case EPERM:
      return Open::kNoPermission;
    case ELOOP:
    case ENOTDIR:
      return Open::kUntrusted;
    default:
      return Open::kFailed;
  }
}

// Splits "/a/b/socket"; false unless absolute, with a name, and short enough.
bool split(const char* path, char (&directory)[PATH_MAX], const char** name) {
  const size_t length = strnlen(path, PATH_MAX);
  if (length == PATH_MAX || path[0] != '/') return false;
  memcpy(directory, path, length + 1);
  char* slash = strrchr(directory, '/');
  *name = path + (slash - directory) + 1;
  if (slash == directory) ++slash;  // the root itself
  *slash = '\0';
  return **name != '\0';
}

Open check(int directory, const char* name, uint32_t trusted_uid) {
  struct statx info {};
  if (statx(directory, "", AT_EMPTY_PATH, STATX_UID | STATX_MODE, &info) != 0) return from_errno(errno);
  if (!trusted(info.stx_uid, trusted_uid) || (info.stx_mode & kWritableByOthers) != 0)
    return Open::kUntrusted;
  if (statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_UID | STATX_TYPE, &info) != 0)
    return from_errno(errno);
  const bool right = S_ISSOCK(info.stx_mode) && trusted(info.stx_uid, trusted_uid);
  return right ? Open::kOk : Open::kUntrusted;
}

Open connect_to(int directory, const char* name, uint32_t trusted_uid, base::Fd* out) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length =
      snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name);
  if (length < 0 || static_cast<size_t>(length) >= sizeof address.sun_path) return Open::kFailed;
  base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Open::kFailed;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return from_errno(errno);
  ucred server{};
  socklen_t size = sizeof server;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) return Open::kFailed;
  if (!trusted(server.uid, trusted_uid)) return Open::kUntrusted;
  *out = static_cast<base::Fd&&>(fd);
  return Open::kOk;
}

Open open_socket(void* self, const char* path, uint32_t trusted_uid) {
  auto* connection = static_cast<BrokerConnection*>(self);
  char directory[PATH_MAX];
  const char* name = nullptr;
  if (!split(path, directory, &name)) return Open::kFailed;
  trusted_uid = narrowed(trusted_uid);
  const base::Fd fd(open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return from_errno(errno);
  const Open right = check(fd.get(), name, trusted_uid);
  return right == Open::kOk ? connect_to(fd.get(), name, trusted_uid, &connection->fd) : right;
}

// Until the socket can be read or written, or the deadline.
bool await(int fd, short events, int64_t deadline_ns) {
  for (;;) {
    const int64_t left_ns = deadline_ns - base::monotonic_ns();
    if (left_ns <= 0) return false;
    pollfd waited{fd, events, 0};
    const timespec timeout = base::to_timespec(left_ns);
    if (ppoll(&waited, 1, &timeout, nullptr) > 0) return true;
  }
}

Io send_all(void* self, const unsigned char* bytes, size_t size, int64_t deadline_ns) {
  const int fd = static_cast<BrokerConnection*>(self)->fd.get();
  while (size > 0) {
    const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes += sent;
      size -= static_cast<size_t>(sent);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return Io::kClosed;
    } else if (errno != EAGAIN && errno != EINTR) {
      return Io::kFailed;
    } else if (!await(fd, POLLOUT, deadline_ns)) {
      return Io::kTimeout;
    }
  }
  return Io::kOk;
}

Io receive_some(void* self, unsigned char* bytes, size_t capacity, size_t* received, int64_t deadline_ns) {
  const int fd = static_cast<BrokerConnection*>(self)->fd.get();
  for (;;) {
    const ssize_t got = recv(fd, bytes, capacity, MSG_DONTWAIT);
    if (got > 0) {
      *received = static_cast<size_t>(got);
      return Io::kOk;
    }
    if (got == 0 || errno == ECONNRESET) return Io::kClosed;
    if (errno != EAGAIN && errno != EINTR) return Io::kFailed;
    if (!await(fd, POLLIN, deadline_ns)) return Io::kTimeout;
  }
}

void close_socket(void* self) {
  static_cast<BrokerConnection*>(self)->fd.reset();
}

}  // namespace

BrokerSocket make_broker_socket(BrokerConnection* connection) {
  return {connection, open_socket, send_all, receive_some, close_socket};
}

}  // namespace rollcall::hostpid
