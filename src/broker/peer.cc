// See peer.h. To read the peer's PID namespace takes CAP_SYS_PTRACE for processes of other
// users, and for those that have a capability that we gave up.
#include "broker/peer.h"

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/peer.h"
#include "base/process.h"

namespace rollcall::broker {
namespace {

constexpr size_t kCgroupBytes = 4096;

// For a kernel that gives no cgroup id: the text of /proc/PID/cgroup, as a number (FNV-1a).
// Two tenants with the same one share a bound, which is no harm.
uint64_t cgroup_from_text(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/cgroup", static_cast<int>(pid));
  std::array<char, kCgroupBytes> text;
  const ssize_t length = base::read_small_file(path, text.data(), text.size());
  if (length <= 0) return 0;
  uint64_t hash = 14695981039346656037ULL;
  for (ssize_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[static_cast<size_t>(i)])) * 1099511628211ULL;
  }
  return hash == 0 ? 1 : hash;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Identified identify(int socket, Peer* peer) {
  ucred credentials{};
  if (!base::peer_credentials(socket, &credentials) || credentials.pid <= 0) return Identified::kGone;
  peer->pid = credentials.pid;
  peer->uid = credentials.uid;
  peer->pidfd = base::Fd(base::open_peer_pidfd(socket, credentials.pid, 0));
  if (peer->pidfd.valid()) return Identified::kOk;
  return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? Identified::kNoDescriptors
                                                               : Identified::kGone;
}

TenantKey tenant_of(const Peer& peer) {
  uint64_t cgroup = base::cgroup_id(peer.pidfd.get());
  if (cgroup == 0) cgroup = cgroup_from_text(peer.pid);
  return tenant_key(cgroup, base::peer_pid_namespace(peer.pidfd.get(), peer.pid), peer.uid);
}

hostpid::ExtendedAnswer answer_for(const Peer& peer, hostpid::Command command, const NodeFacts& node) {
  hostpid::ExtendedAnswer answer;
  if (command == hostpid::Command::kExtended) {
    answer.start_time = base::process_start_time(peer.pid);
    answer.pid_namespace = base::peer_pid_namespace(peer.pidfd.get(), peer.pid);
  }
  if (base::pidfd_dead(peer.pidfd.get())) {
    answer = {};
    answer.status = hostpid::WireStatus::kPeerGone;
    return answer;
  }
  answer.pid = static_cast<uint32_t>(peer.pid);
  answer.view = node.view;
  std::copy(node.boot_id.begin(), node.boot_id.end(), answer.boot_id);
  return answer;
}

std::array<unsigned char, 16> parse_boot_id(std::string_view text) {
  std::array<unsigned char, 16> id{};
  size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    if (c == '\n') break;
    const int value = hex_value(c);
    if (value < 0 || digits == 2 * id.size()) return {};
    id[digits / 2] = static_cast<unsigned char>(id[digits / 2] << 4 | value);
    ++digits;
  }
  return digits == 2 * id.size() ? id : std::array<unsigned char, 16>{};
}

std::array<unsigned char, 16> read_boot_id() {
  std::array<char, 64> text;
  const ssize_t length = base::read_small_file("/proc/sys/kernel/random/boot_id", text.data(), text.size());
  return length <= 0 ? std::array<unsigned char, 16>{}
                     : parse_boot_id({text.data(), static_cast<size_t>(length)});
}

}  // namespace rollcall::broker
