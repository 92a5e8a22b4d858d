// See channel.h.
#include "probe/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/clock.h"

namespace rollcall::probe {
namespace {

// A list of a thousand processes takes 50 KB.
constexpr size_t kMaxMessageBytes = size_t{128} << 10;

pid_t sender_of(msghdr* header) {
  for (cmsghdr* at = CMSG_FIRSTHDR(header); at != nullptr; at = CMSG_NXTHDR(header, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(at), sizeof credentials);
    return credentials.pid;
  }
  return 0;
}

}  // namespace

base::Result<std::pair<Channel, Channel>> Channel::make() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return base::system_failure("socketpair", "make", errno);
  }
  std::pair<Channel, Channel> ends{Channel(base::Fd(fds[0])), Channel(base::Fd(fds[1]))};
  const int one = 1;
  if (setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof one) != 0) {
    return base::system_failure("SO_PASSCRED", "set", errno);
  }
  return ends;
}

base::Result<void> Channel::send(const evidence::Json& message) const {
  const std::string text = evidence::dump(message, -1);
  if (text.size() > kMaxMessageBytes) return base::failure("", "a message larger than foreseen");
  ssize_t sent = -1;
  do {
    sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return base::system_failure("socket", "send", errno);
  return {};
}

base::Result<Channel::Received> Channel::receive(int64_t deadline_ms) const {
  const int64_t end_ns = base::monotonic_ns() + deadline_ms * base::kNsPerMs;
  for (;;) {
    const int64_t left_ms = (end_ns - base::monotonic_ns()) / base::kNsPerMs;
    if (left_ms <= 0) return base::failure("", fmt::format("no answer within {} ms", deadline_ms));
    pollfd ready{fd_.get(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000))) > 0) break;
  }
  std::vector<char> text(kMaxMessageBytes);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  iovec vector{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = -1;
  do {
    got = recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::system_failure("socket", "receive", errno);
  if (got == 0) return base::failure("", "the other end is gone");
  auto message = evidence::parse_json({text.data(), static_cast<size_t>(got)}, "message");
  if (!message) return tl::unexpected(message.error());
  return Received{std::move(*message), sender_of(&header)};
}

}  // namespace rollcall::probe
