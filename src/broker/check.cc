// See check.h. A plain client first, so that every answer is seen as it is, also one of a
// broker that nobody would trust; then libhostpid, which says whether it would.
#include "broker/check.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/fd.h"
#include "base/process.h"
#include "broker/counters.h"
#include "broker/peer.h"
#include "hostpid/wire.h"

namespace rollcall::broker {
namespace {

base::Result<base::Fd> connect_to(const std::string& path) {
  const auto address = base::unix_address(path);
  if (!address) return tl::unexpected(address.error());
  base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return base::system_failure(path, "make a socket", errno);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return base::system_failure(path, "connect", errno,
                                errno == EAGAIN ? "the broker is there, with a full backlog: try again"
                                                : "is hostpidd running? see --socket");
  }
  return fd;
}

base::Result<hostpid::ExtendedAnswer> ask(const std::string& path, hostpid::Command command,
                                          int64_t deadline_ns) {
  auto fd = connect_to(path);
  if (!fd) return tl::unexpected(fd.error());
  unsigned char request[hostpid::kRequestBytes];
  hostpid::write_request(command, request);
  // A broker that is busy may have answered and closed already; its answer is read below.
  const bool sent = send(fd->get(), request, sizeof request, MSG_NOSIGNAL) == sizeof request;
  unsigned char bytes[hostpid::kExtendedAnswerBytes];
  size_t length = 0;
  for (;;) {
    const int64_t left_ms = (deadline_ns - base::monotonic_ns()) / base::kNsPerMs;
    pollfd waiting{fd->get(), POLLIN, 0};
    if (left_ms <= 0 || poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000))) == 0)
      return base::failure(path, "no answer in time", "see the broker's log");
    const ssize_t got = recv(fd->get(), bytes + length, sizeof bytes - length, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) {
      return base::failure(path, sent ? "closed the connection before its answer was whole"
                                      : "closed the connection before it was asked");
    }
    length += static_cast<size_t>(got);
    hostpid::ExtendedAnswer answer;
    switch (hostpid::parse_answer(command, bytes, length, &answer)) {
      case hostpid::Parse::kComplete:
        return answer;
      case hostpid::Parse::kIncomplete:
        continue;
      case hostpid::Parse::kMalformed:
        return base::failure(path, "its answer is not one of the protocol HPID version 1");
    }
  }
}

const char* to_text(hostpid::WireStatus status) {
  switch (status) {
    case hostpid::WireStatus::kOk:
      return "ok";
    case hostpid::WireStatus::kInvalidRequest:
      return "invalid request";
    case hostpid::WireStatus::kBusy:
      return "busy";
    case hostpid::WireStatus::kPeerGone:
      return "peer gone: this process is not visible in the broker's PID namespace";
  }
  return "unknown";
}

std::string uuid_text(const unsigned char id[16]) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", id[i]);
  }
  return text;
}

// What this process knows of itself, where the broker says the same thing.
base::Result<void> compare_pid(const std::string& path, uint32_t pid) {
  if (base::own_pid_namespace_inode() != base::kInitialPidNamespaceInode ||
      pid == static_cast<uint32_t>(getpid()))
    return {};
  return base::failure(path, fmt::format("said that this process is {}, but it is {}", pid, getpid()),
                       "the broker does not run in the host's PID namespace");
}

base::Result<void> compare(const std::string& path, const hostpid::ExtendedAnswer& answer) {
  const uint64_t own = base::own_pid_namespace_inode();
  if (answer.pid_namespace != 0 && own != 0 && answer.pid_namespace != own)
    return base::failure(
        path, fmt::format("said that our PID namespace is {}, but it is {}", answer.pid_namespace, own));
  const auto boot = read_boot_id();
  if (!std::equal(boot.begin(), boot.end(), answer.boot_id))
    return base::failure(path, "said another boot id than this machine has");
  return {};
}

// Whether a client of libhostpid that trusts the socket's owner would use it.
base::Result<std::string> check_trust(const std::string& path, int64_t deadline_ns) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return base::system_failure(path, "examine", errno);
  hostpid_options options;
  hostpid_options_init(&options);
  options.tiers_allowed = HOSTPID_TIER_BROKER;
  options.broker_path = path.c_str();
  options.broker_uid = info.st_uid;
  const int64_t left_ms = (deadline_ns - base::monotonic_ns()) / base::kNsPerMs;
  options.deadline_ms = static_cast<uint32_t>(std::clamp<int64_t>(left_ms, 1, 60'000));
  hostpid_result result;
  hostpid_discover(&options, &result);
  if (result.host_status != HOSTPID_OK) {
    return base::failure(path, fmt::format("libhostpid does not use it ({}): {}", result.host_reason,
                                           hostpid_reason_text(result.host_reason)));
  }
  return fmt::format("libhostpid: uses it where user {} is trusted\n", options.broker_uid);
}

}  // namespace

base::Result<std::string> check_broker(const std::string& path, int64_t deadline_ms) {
  const int64_t deadline_ns = base::monotonic_ns() + deadline_ms * base::kNsPerMs;
  const auto plain = ask(path, hostpid::Command::kPid, deadline_ns);
  if (!plain) return tl::unexpected(plain.error());
  if (plain->status != hostpid::WireStatus::kOk)
    return base::failure(path, std::string("answered command 1: ") + to_text(plain->status));
  if (auto same = compare_pid(path, plain->pid); !same) return tl::unexpected(same.error());
  std::string text = fmt::format("host PID: {}\n", plain->pid);
  const auto extended = ask(path, hostpid::Command::kExtended, deadline_ns);
  if (!extended) return tl::unexpected(extended.error());
  if (extended->status == hostpid::WireStatus::kInvalidRequest) {
    const auto trust = check_trust(path, deadline_ns);
    if (!trust) return tl::unexpected(trust.error());
    return text + "a version 1 server: it does not know the extended command\n" + *trust;
  }
  if (extended->status != hostpid::WireStatus::kOk)
    return base::failure(path, std::string("answered command 2: ") + to_text(extended->status));
  if (extended->pid != plain->pid)
    return base::failure(path,
                         fmt::format("answered {} and {} to the same process", plain->pid, extended->pid));
  if (auto same = compare(path, *extended); !same) return tl::unexpected(same.error());
  const auto trust = check_trust(path, deadline_ns);
  if (!trust) return tl::unexpected(trust.error());
  return text +
         fmt::format("NVML view: {}\nstart time: {}\nPID namespace: {}\nboot id: {}\n",
                     to_text(extended->view), extended->start_time, extended->pid_namespace,
                     uuid_text(extended->boot_id)) +
         *trust;
}

}  // namespace rollcall::broker
