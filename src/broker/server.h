// The loop: connections in, answers out, on one thread. Thin: what bytes mean is
// request.h, who may wait admission.h, who a client is peer.h. At any moment it holds
// no more than Bounds::total connections with two descriptors each, and a few of its own.
#pragma once

#include <sys/epoll.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "broker/admission.h"
#include "broker/counters.h"
#include "broker/passed_descriptors.h"
#include "broker/peer.h"
#include "broker/place.h"
#include "broker/request.h"

namespace rollcall::broker {

struct ServerOptions {
  Bounds bounds;
  int64_t connection_timeout_ms = 500;
  NodeFacts node;
  std::string metrics_file;  // empty: none
  int64_t metrics_interval_ms = 15'000;
};

// Descriptors that a server with these bounds needs.
size_t needed_descriptors(const Bounds& bounds);
// The bounds that fit into that many descriptors; total 0 where none do.
Bounds fitting_bounds(Bounds bounds, size_t descriptors);

class Server {
 public:
  // SIGTERM and SIGINT have to be blocked by the caller; they end run().
  static base::Result<std::unique_ptr<Server>> create(ServerOptions options, std::vector<SocketPlace> places);

  // Until a signal. What is complete by then is answered.
  base::Result<void> run();

  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  // Connections have theirs in the upper half of an event's data; those below say that it
  // is about something else.
  static constexpr uint32_t kFirstGeneration = 2;

  struct Connection {
    base::Fd socket;
    Peer peer;
    Request request;
    int64_t accepted_ns = 0;
    uint32_t generation = kFirstGeneration;  // tells a connection from the next one in its place
    std::list<Place>::iterator in_due;       // while it waits
  };

  Server(ServerOptions options, std::vector<SocketPlace> places);
  base::Result<void> set_up();
  base::Result<void> watch(int fd, uint64_t data);
  int wait_ms(int64_t now_ns) const;
  int await_events(epoll_event* events, int capacity, int timeout_ms) const;
  void accept_all(int listener);
  void accept_without_descriptors(int listener, int error);
  void let_wait(Connection connection);
  void receive(Place place, uint32_t generation);
  // Reads what is there. True while it is to wait; the connection is finished otherwise.
  bool advance(Connection& connection);
  void answer(Connection& connection);
  void refuse(Connection& connection, Refusal cause, hostpid::WireStatus status);
  void forget(Place place);
  void clear(Place place);
  int64_t deadline_ns(const Connection& connection) const;
  void expire(int64_t now_ns);
  void end();
  void await_last_requests();
  void write_metrics(int64_t now_ns);
  void complain(const std::string& what);

  ServerOptions options_;
  std::vector<SocketPlace> places_;
  Admission admission_;
  std::vector<Connection> connections_;  // by place
  std::list<Place> due_;                 // those that wait, in the order of their deadlines
  Counters counters_;
  Interrupter interrupter_;  // of the loop, but not of its waiting for events
  base::Fd epoll_;
  base::Fd signals_;
  base::Fd spare_;  // given up for a moment to turn away a client that no descriptor is left for
  double start_time_s_ = 0;
  int64_t metrics_due_ns_ = 0;
  int64_t next_complaint_ns_ = 0;
  uint64_t complaints_withheld_ = 0;
};

}  // namespace rollcall::broker
