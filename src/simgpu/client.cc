// Every wait here ends when the daemon ends: its death closes the socket, which
// wakes connect(), send() and recv() alike. There is no deadline beyond that,
// because a driver call in a long queue is exactly what this node simulates.
#include "simgpu/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

namespace rollcall::simgpu {
namespace {

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, length + 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  // Blocking, so that a full backlog waits instead of failing. An interrupted
  // connect() of a Unix socket leaves nothing half done.
  while (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    ::close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

Link Client::open() {
  if (link_ == Link::kOpen || link_ == Link::kLost) return link_;
  link_ = Link::kNoNode;
  const char* path = getenv(kSocketVariable);
  const int fd = path == nullptr ? -1 : connect_to(path);
  if (fd < 0) return link_;
  fd_ = fd;
  link_ = Link::kOpen;
  Request request;
  request.operation = static_cast<uint16_t>(Operation::kHello);
  Reply reply;
  if (!exchange(request, &reply)) {
    leave(Link::kNoNode);
  } else if (reply.status != Status::kOk || reply.payload_bytes != sizeof(NodeInfo)) {
    leave(Link::kRefused);
  } else {
    memcpy(&node_, payload_.bytes, sizeof node_);
    node_.device_name[sizeof node_.device_name - 1] = '\0';
    node_.driver_version[sizeof node_.driver_version - 1] = '\0';
    if (node_.gpus > kMaxGpus) node_.gpus = kMaxGpus;
  }
  return link_;
}

void Client::close() {
  leave(Link::kClosed);
}

void Client::forget() {
  link_ = Link::kClosed;
  entry_count_ = 0;
}

void Client::leave(Link link) {
  if (link_ == Link::kOpen) ::close(fd_);
  link_ = link;
  entry_count_ = 0;
}

bool Client::call(Operation operation, Request request, Reply* reply) {
  if (link_ != Link::kOpen) return false;
  request.operation = static_cast<uint16_t>(operation);
  if (!exchange(request, reply) || reply->status == Status::kInvalid) {
    leave(Link::kLost);
    return false;
  }
  return true;
}

bool Client::exchange(const Request& request, Reply* reply) {
  ssize_t length;
  do {
    length = send(fd_, &request, sizeof request, MSG_NOSIGNAL);
  } while (length < 0 && errno == EINTR);
  if (length != static_cast<ssize_t>(sizeof request)) return false;

  iovec parts[2] = {{reply, sizeof *reply}, {payload_.bytes, sizeof payload_.bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  do {
    length = recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  if (length <= 0 || (message.msg_flags & MSG_TRUNC) != 0) return false;
  if (!well_formed(*reply, static_cast<size_t>(length))) return false;
  entry_count_ = static_cast<unsigned>(reply->payload_bytes / sizeof(ListEntry));
  return true;
}

}  // namespace rollcall::simgpu
