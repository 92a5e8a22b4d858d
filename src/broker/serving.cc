// What becomes of one connection: read, answered, refused, or put to wait. The loop that
// calls this is server.cc.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "broker/server.h"

namespace rollcall::broker {
namespace {

// It is the first that is sent on its connection, so there is room for it.
bool send_answer(int socket, hostpid::Command command, const hostpid::ExtendedAnswer& answer) {
  unsigned char bytes[hostpid::kExtendedAnswerBytes];
  const size_t length = hostpid::write_answer(command, answer, bytes);
  return send(socket, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(length);
}

}  // namespace

int64_t Server::deadline_ns(const Connection& connection) const {
  return connection.accepted_ns + options_.connection_timeout_ms * base::kNsPerMs;
}

void Server::let_wait(Connection connection) {
  switch (identify(connection.socket.get(), &connection.peer)) {
    case Identified::kOk:
      break;
    case Identified::kGone:
      return refuse(connection, Refusal::kPeerGone, hostpid::WireStatus::kPeerGone);
    case Identified::kNoDescriptors:
      return refuse(connection, Refusal::kNoDescriptors, hostpid::WireStatus::kBusy);
  }
  const Admitted admitted = admission_.admit(tenant_of(connection.peer));
  if (admitted.evicted) {
    // Within admit() its place was given up, and may be the newcomer's now.
    refuse(connections_[*admitted.evicted], Refusal::kEvicted, hostpid::WireStatus::kBusy);
    clear(*admitted.evicted);
  }
  if (admitted.verdict != Verdict::kAdmitted) {
    const bool tenant = admitted.verdict == Verdict::kTenantFull;
    complain(tenant ? "a tenant has as many waiting connections as one may have; it was told that we are busy"
                    : "as many connections wait as may; a client was told that we are busy");
    return refuse(connection, tenant ? Refusal::kTenantBound : Refusal::kTotalBound,
                  hostpid::WireStatus::kBusy);
  }
  Connection& kept = connections_[admitted.place];
  const uint32_t generation = kept.generation;
  kept = std::move(connection);
  kept.generation = generation;
  kept.in_due = due_.insert(due_.end(), admitted.place);
  if (!watch(kept.socket.get(), uint64_t{generation} << 32 | admitted.place)) {
    refuse(kept, Refusal::kNoDescriptors, hostpid::WireStatus::kBusy);
    forget(admitted.place);
  }
}

void Server::receive(Place place, uint32_t generation) {
  Connection& connection = connections_[place];
  if (!connection.socket.valid() || connection.generation != generation) return;
  if (!advance(connection)) forget(place);
}

bool Server::advance(Connection& connection) {
  for (;;) {
    const ssize_t got =
        recv(connection.socket.get(), connection.request.space(), connection.request.room(), MSG_DONTWAIT);
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      counters_.count_refusal(Refusal::kHangUp);
      connection.socket.reset();
      return false;
    }
    switch (connection.request.receive(static_cast<size_t>(got))) {
      case Request::Step::kWait:
        continue;
      case Request::Step::kAnswer:
        answer(connection);
        return false;
      case Request::Step::kInvalid:
        refuse(connection, Refusal::kInvalid, hostpid::WireStatus::kInvalidRequest);
        return false;
      case Request::Step::kHangUp:
        counters_.count_refusal(Refusal::kHangUp);
        connection.socket.reset();
        return false;
    }
  }
}

void Server::answer(Connection& connection) {
  const hostpid::Command command = connection.request.command();
  hostpid::ExtendedAnswer answer;
  const Identified identified =
      connection.peer.pidfd.valid() ? Identified::kOk : identify(connection.socket.get(), &connection.peer);
  if (identified == Identified::kOk) {
    answer = answer_for(connection.peer, command, options_.node);
  } else {
    answer.status =
        identified == Identified::kGone ? hostpid::WireStatus::kPeerGone : hostpid::WireStatus::kBusy;
  }
  if (answer.status == hostpid::WireStatus::kPeerGone) counters_.count_refusal(Refusal::kPeerGone);
  if (answer.status == hostpid::WireStatus::kBusy) counters_.count_refusal(Refusal::kNoDescriptors);
  send_answer(connection.socket.get(), command, answer);
  connection.socket.reset();
  connection.peer.pidfd.reset();
  counters_.count_request(command, answer.status, base::monotonic_ns() - connection.accepted_ns);
}

// With the twelve bytes that every client of this protocol understands.
void Server::refuse(Connection& connection, Refusal cause, hostpid::WireStatus status) {
  counters_.count_refusal(cause);
  hostpid::ExtendedAnswer answer;
  answer.status = status;
  send_answer(connection.socket.get(), hostpid::Command::kPid, answer);
  connection.socket.reset();
  connection.peer.pidfd.reset();
}

// The connection is closed already.
void Server::forget(Place place) {
  clear(place);
  admission_.leave(place);
}

void Server::clear(Place place) {
  Connection& connection = connections_[place];
  due_.erase(connection.in_due);
  const uint32_t next = connection.generation == UINT32_MAX ? kFirstGeneration : connection.generation + 1;
  connection = {};
  connection.generation = next;
}

void Server::expire(int64_t now_ns) {
  while (!due_.empty() && deadline_ns(connections_[due_.front()]) <= now_ns) {
    const Place place = due_.front();
    counters_.count_refusal(Refusal::kTimeout);
    connections_[place].socket.reset();
    forget(place);
  }
}

}  // namespace rollcall::broker
