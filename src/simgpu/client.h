// A stand-in library's connection to simgpud: connect, greet, then one request
// and one reply at a time. Not locked: its library holds one lock over it.
// libc only, no allocation, constant initialisation, and no signal raised when
// the daemon is gone.
#pragma once

#include "simgpu/protocol.h"

namespace rollcall::simgpu {

enum class Link : uint8_t {
  kClosed,  // not tried yet, or closed
  kOpen,
  kNoNode,   // the variable is not set, or nobody serves the socket
  kRefused,  // the daemon does not take this process
  kLost,     // it was open; the daemon is gone, or said something senseless
};

class Client {
 public:
  constexpr Client() = default;

  // Connects to the socket that the environment names, unless that is done.
  Link open();
  void close();
  // Forgets the connection without closing its descriptor: in a forked child
  // the number may by now be somebody else's.
  void forget();

  // Sends a request and waits for its reply. False: the node is lost.
  bool call(Operation operation, Request request, Reply* reply);

  [[nodiscard]] Link link() const { return link_; }
  [[nodiscard]] const NodeInfo& node() const { return node_; }
  // The entries that came with the last reply.
  [[nodiscard]] const ListEntry* entries() const { return payload_.entries; }
  [[nodiscard]] unsigned entry_count() const { return entry_count_; }

 private:
  bool exchange(const Request& request, Reply* reply);
  void leave(Link link);

  // All zero at the start, so that the object takes no room in the library's file.
  Link link_ = Link::kClosed;
  int fd_ = 0;  // means something only while the link is open
  unsigned entry_count_ = 0;
  NodeInfo node_ = {};
  union Payload {
    constexpr Payload() : bytes{} {}
    char bytes[kMaxPayloadBytes];
    ListEntry entries[kMaxListEntries];
  } payload_;
};

}  // namespace rollcall::simgpu
