// A broker that is honest and has a hard life: not there, full, busy, slow, restarted
// between a connect and its reply, of upstream's version, or with bytes on the wire that
// are no answer. What it does not do is give a wrong answer that is well formed in every
// respect: a client cannot tell such a one, which is why it trusts the owner alone.
#pragma once

#include <vector>

#include "hostpid/broker_client.h"
#include "model/random.h"
#include "model/situations.h"

namespace rollcall::model {

struct BrokerTruth {
  hostpid::ExtendedAnswer answer;    // what an honest one says of this process
  bool client_knows_itself = false;  // start time and namespace, so that another's are noticed
};

class SimulatedBroker {
 public:
  SimulatedBroker(Random* random, WorldTime* time, Situations* situations, const BrokerTruth& truth);
  hostpid::BrokerSocket socket();
  // At the end: is every connection closed?
  [[nodiscard]] bool all_closed() const { return !open_; }
  // Nothing but time can keep it from answering.
  [[nodiscard]] bool faultless() const { return fault_in_16_ == 0 && constant_ == Fault::kNone; }

 private:
  enum class Fault {
    kNone,
    kNotThere,
    kBacklogFull,
    kUntrusted,
    kNoPermission,
    kOpenFails,
    kBusy,
    kMalformed,
    kOfAnother,
    kPeerGone,
    kSilent,
    kRestart,
    kCutShort,
    kSendFails,
    kLast = kSendFails,
  };
  using Io = hostpid::BrokerSocket::Io;

  void pass_time();
  Fault draw_fault();
  hostpid::BrokerSocket::Open connect();
  Io take_request(const unsigned char* bytes, size_t size);
  void reply(hostpid::RequestParse request);
  void spoil(hostpid::Command command);
  Io give(unsigned char* bytes, size_t capacity, size_t* received, int64_t deadline_ns);

  Random& random_;
  WorldTime& time_;
  Situations& situations_;
  BrokerTruth truth_;
  bool upstream_;
  uint64_t fault_in_16_;    // connections that have one
  Fault constant_;          // that all have
  int64_t back_at_ns_ = 0;  // after a restart
  bool restarted_ = false;

  bool open_ = false;
  Fault fault_ = Fault::kNone;
  std::vector<unsigned char> waiting_;  // bytes for the client
};

}  // namespace rollcall::model
