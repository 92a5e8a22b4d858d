// What the kernel says of a client, read in an order that makes it true: first the PID
// and a pidfd of the connection, then what /proc says under that PID, and last the
// question whether the process still lives. Nothing that a client says is used.
#pragma once

#include <sys/types.h>

#include <array>

#include "base/error.h"
#include "base/fd.h"
#include "broker/admission.h"
#include "hostpid/wire.h"

namespace rollcall::broker {

struct Peer {
  pid_t pid = 0;
  uint32_t uid = 0;
  base::Fd pidfd;
};

enum class Identified {
  kOk,
  kGone,           // it ended, or is not visible in our PID namespace
  kNoDescriptors,  // ours are used up
};
Identified identify(int socket, Peer* peer);

TenantKey tenant_of(const Peer& peer);

// The same for every client.
struct NodeFacts {
  hostpid_nvml_view view = HOSTPID_VIEW_UNKNOWN;
  std::array<unsigned char, 16> boot_id{};  // all zero: not known
};

// The answer to a client's request; kPeerGone if it has not outlived its making.
hostpid::ExtendedAnswer answer_for(const Peer& peer, hostpid::Command command, const NodeFacts& node);

// From /proc/sys/kernel/random/boot_id; all zero if it cannot be read.
std::array<unsigned char, 16> read_boot_id();
// From that file's text; all zero if malformed.
std::array<unsigned char, 16> parse_boot_id(std::string_view text);

}  // namespace rollcall::broker
