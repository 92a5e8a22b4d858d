// The order matters: first the PID, then the pidfd, then what /proc says under
// that PID, and last the question whether the pidfd is still alive. Only then
// was /proc/PID that process all the while.
#include "simgpu/peer.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/peer.h"
#include "base/process.h"

namespace rollcall::simgpu {
namespace {

// More threads than any client here has; the search for one must end.
constexpr int kMaxThreads = 4096;
constexpr const char* kSamePidNamespace =
    "start simgpud in a PID namespace that holds its clients, best the host's";

// The inodes of a process's PID namespaces from the daemon's own down to its own.
base::Result<std::vector<uint64_t>> namespace_inodes(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/pid";
  const uint64_t own = base::own_pid_namespace_inode();
  base::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid())
    return base::system_failure(path, "open", errno, "run simgpud as root or as its clients' user");
  std::vector<uint64_t> inodes;
  while (inodes.size() < base::kMaxPidNamespaces) {
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) return base::system_failure(path, "stat", errno);
    inodes.push_back(static_cast<uint64_t>(info.st_ino));
    if (inodes.back() == own) {
      std::reverse(inodes.begin(), inodes.end());
      return inodes;
    }
    base::Fd parent(ioctl(fd.get(), NS_GET_PARENT));
    if (!parent.valid())
      return base::system_failure(path, "find the parent namespace", errno, kSamePidNamespace);
    fd = std::move(parent);
  }
  return base::failure(path, "more nested PID namespaces than the kernel allows");
}

// The numbers that one status file gives, from the reader's namespace inwards.
base::Result<std::vector<pid_t>> read_nspid(const std::string& path) {
  std::array<char, 8192> text;
  const ssize_t length = base::read_small_file(path.c_str(), text.data(), text.size());
  if (length < 0) return base::system_failure(path, "read", errno);
  std::vector<pid_t> pids(base::kMaxPidNamespaces);
  pids.resize(base::parse_nspid(text.data(), static_cast<size_t>(length), pids.data(), pids.size()));
  return pids;
}

}  // namespace

base::Result<PeerIdentity> identify_peer(int socket) {
  ucred credentials{};
  if (!base::peer_credentials(socket, &credentials))
    return base::system_failure("client", "ask who it is", errno);
  if (credentials.pid <= 0) {
    return base::failure("client", "is not visible in simgpud's PID namespace", kSamePidNamespace);
  }
  PeerIdentity peer{credentials.pid, base::process_start_time(credentials.pid)};
  if (peer.start_time == 0) {
    return base::failure("client " + std::to_string(peer.pid),
                         "has no readable start time in /proc: it is gone");
  }
  return peer;
}

base::Result<base::Fd> open_peer_pidfd(int socket, const PeerIdentity& peer) {
  base::Fd fd(base::open_peer_pidfd(socket, peer.pid, peer.start_time));
  if (fd.valid()) return fd;
  const std::string who = "client " + std::to_string(peer.pid);
  if (errno == ESRCH) return base::failure(who, "ended while it connected");
  return base::system_failure(who, "open a pidfd", errno);
}

base::Result<NameChain> read_name_chain(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const auto pids = read_nspid(path);
  if (!pids) return tl::unexpected(pids.error());
  const auto inodes = namespace_inodes(pid);
  if (!inodes) return tl::unexpected(inodes.error());
  if (pids->size() != inodes->size()) {
    return base::failure(path,
                         "NSpid has " + std::to_string(pids->size()) + " numbers, but the process lies in " +
                             std::to_string(inodes->size()) + " PID namespaces",
                         "mount a /proc of simgpud's own PID namespace");
  }
  NameChain chain;
  for (size_t i = 0; i < pids->size(); ++i) chain.push_back({(*inodes)[i], (*pids)[i]});
  return chain;
}

// The threads of a process share its PID namespaces, so each has a number for
// every name of its process. Where only the daemon's numbering is of interest,
// `process` has one name and the rest of a thread's numbers are not used.
base::Result<NameChain> read_thread_chain(pid_t pid, const NameChain& process, pid_t claimed) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  std::error_code error;
  std::filesystem::directory_iterator thread(folder, error);
  for (int seen = 0; !error && thread != std::filesystem::directory_iterator() && seen < kMaxThreads;
       thread.increment(error), ++seen) {
    const auto pids = read_nspid(thread->path().string() + "/status");
    // One that has just ended cannot be the one that waits for an answer.
    if (!pids || pids->empty() || pids->back() != claimed || pids->size() < process.size()) continue;
    NameChain chain = process;
    for (size_t i = 0; i < chain.size(); ++i) chain[i].pid = (*pids)[i];
    return chain;
  }
  return base::failure("client " + std::to_string(pid),
                       "says that its thread " + std::to_string(claimed) + " called, but has no such thread");
}

}  // namespace rollcall::simgpu
