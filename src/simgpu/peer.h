// Who is at the other end of a connection: asked of the kernel, never of the
// client. A process is its PID in the daemon's namespace with its start time,
// and a pidfd that says when it is dead.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/error.h"
#include "base/fd.h"
#include "simgpu/namespace_view.h"

namespace rollcall::simgpu {

struct PeerIdentity {
  pid_t pid = 0;
  uint64_t start_time = 0;  // clock ticks since boot
};

// From SO_PEERCRED and /proc/PID/stat. An error if the client lies outside the
// daemon's PID namespace, or is gone.
base::Result<PeerIdentity> identify_peer(int socket);

// A pidfd of the peer: of the connection itself where the kernel has that
// (Linux 6.5), otherwise opened by PID and held against the start time.
base::Result<base::Fd> open_peer_pidfd(int socket, const PeerIdentity& peer);

// The names of a living process from the daemon's namespace down to its own:
// NSpid of /proc/PID/status beside the chain of its namespaces' inodes.
base::Result<NameChain> read_name_chain(pid_t pid);

// The names of one thread of `pid`, for a process that has the names `process`.
// `claimed` is what the client says its thread's id is, in its own namespace; an
// error unless /proc knows a thread of that process by that number.
base::Result<NameChain> read_thread_chain(pid_t pid, const NameChain& process, pid_t claimed);

}  // namespace rollcall::simgpu
