// The broker's socket as it really is: who may own it, and a connection that never
// raises a signal and never waits beyond its deadline. See docs/hostpidd.md for the
// rules of trust.
#pragma once

#include "base/fd.h"
#include "hostpid/broker_client.h"

namespace rollcall::hostpid {

// What a BrokerSocket stands on. One connection at a time.
struct BrokerConnection {
  base::Fd fd;
};

// `connection` must outlive the socket.
BrokerSocket make_broker_socket(BrokerConnection* connection);

}  // namespace rollcall::hostpid
