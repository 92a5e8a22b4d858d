// A fault is drawn for each connection, or for all of them: what is one hiccup for some
// clients is the whole life of others.
#include "model/simulated_broker.h"

#include <algorithm>
#include <cstring>

namespace rollcall::model {

using namespace hostpid;

namespace {

SimulatedBroker& of(void* self) {
  return *static_cast<SimulatedBroker*>(self);
}

}  // namespace

SimulatedBroker::SimulatedBroker(Random* random, WorldTime* time, Situations* situations,
                                 const BrokerTruth& truth)
    : random_(*random), time_(*time), situations_(*situations), truth_(truth) {
  upstream_ = random_.one_in(6);
  fault_in_16_ = random_.one_in(2) ? 0 : random_.below(17);
  constant_ = random_.one_in(4) ? static_cast<Fault>(random_.below(static_cast<uint64_t>(Fault::kLast) + 1))
                                : Fault::kNone;
}

void SimulatedBroker::pass_time() {
  time_.now_ns += static_cast<int64_t>(random_.below(static_cast<uint64_t>(time_.longest_call_ns) + 1));
}

SimulatedBroker::Fault SimulatedBroker::draw_fault() {
  if (constant_ != Fault::kNone) return constant_;
  if (random_.below(16) >= fault_in_16_) return Fault::kNone;
  return static_cast<Fault>(random_.below(static_cast<uint64_t>(Fault::kLast) + 1));
}

BrokerSocket::Open SimulatedBroker::connect() {
  using Open = BrokerSocket::Open;
  pass_time();
  if (time_.now_ns < back_at_ns_) return Open::kNotThere;
  waiting_.clear();
  fault_ = draw_fault();
  switch (fault_) {
    case Fault::kNotThere:
      return Open::kNotThere;
    case Fault::kBacklogFull:
      return Open::kBacklogFull;
    case Fault::kUntrusted:
      return Open::kUntrusted;
    case Fault::kNoPermission:
      return Open::kNoPermission;
    case Fault::kOpenFails:
      return Open::kFailed;
    default:
      open_ = true;
      return Open::kOk;
  }
}

SimulatedBroker::Io SimulatedBroker::take_request(const unsigned char* bytes, size_t size) {
  pass_time();
  if (fault_ == Fault::kRestart) {
    situations_.saw(Situation::kBrokerRestarted);
    restarted_ = true;
    back_at_ns_ = time_.now_ns + static_cast<int64_t>(random_.below(2 * kRestartGraceNs));
    return random_.one_in(2) ? Io::kOk : Io::kFailed;
  }
  if (fault_ == Fault::kSendFails) return Io::kFailed;
  if (fault_ != Fault::kSilent) reply(parse_request(bytes, size));
  return Io::kOk;
}

void SimulatedBroker::reply(RequestParse request) {
  const Command command = request == RequestParse::kExtended ? Command::kExtended : Command::kPid;
  ExtendedAnswer answer = truth_.answer;
  const bool unknown = upstream_ && command == Command::kExtended;
  if (unknown) answer.status = WireStatus::kInvalidRequest;
  if (!upstream_ && fault_ == Fault::kBusy) answer.status = WireStatus::kBusy;
  if (!upstream_ && fault_ == Fault::kPeerGone) answer.status = WireStatus::kPeerGone;
  if (upstream_ && (fault_ == Fault::kBusy || fault_ == Fault::kPeerGone)) return;  // it closes
  const bool of_another =
      fault_ == Fault::kOfAnother && truth_.client_knows_itself && command == Command::kExtended && !unknown;
  if (of_another) {
    answer.pid += 1;
    (random_.one_in(2) ? answer.start_time : answer.pid_namespace) += 1 + random_.below(1000);
  }
  waiting_.resize(kExtendedAnswerBytes);
  waiting_.resize(write_answer(command, answer, waiting_.data()));
  if (unknown) waiting_.resize(kAnswerBytes);
  if (fault_ == Fault::kCutShort) waiting_.resize(random_.below(waiting_.size()));
  if (fault_ == Fault::kMalformed) spoil(command);

  if (answer.status == WireStatus::kBusy) situations_.saw(Situation::kBrokerBusy);
  if (of_another) situations_.saw(Situation::kBrokerSpokeOfAnother);
  if (upstream_ && command == Command::kPid) situations_.saw(Situation::kBrokerUpstream);
  if (restarted_ && fault_ == Fault::kNone) situations_.saw(Situation::kAnsweredAfterRestart);
}

// Such that it cannot be taken for an answer.
void SimulatedBroker::spoil(Command command) {
  situations_.saw(Situation::kBrokerMalformed);
  const auto noise = static_cast<unsigned char>(1 + random_.below(255));
  const bool ok = waiting_[7] == 0;
  switch (random_.below(command == Command::kExtended && ok ? 9 : 6)) {
    case 0:
      waiting_[random_.below(4)] ^= noise;  // magic
      return;
    case 1:
      waiting_[4 + random_.below(2)] ^= noise;  // version
      return;
    case 2:
      waiting_[6] = noise;  // status
      return;
    case 3:
      waiting_[7] = static_cast<unsigned char>(4 + random_.below(252));
      return;
    case 4:
      waiting_[8] |= 0x80;  // a PID beyond all
      return;
    case 5:  // nobody's PID with success, somebody's with a failure
      if (ok) memset(&waiting_[8], 0, 4);
      if (!ok) waiting_[11] = noise;
      return;
    case 6:
      waiting_[15] = 3;  // view
      return;
    case 7:
      waiting_[12 + random_.below(3)] = noise;  // flags
      return;
    case 8:
      waiting_[16 + random_.below(4)] = noise;  // reserved
      return;
  }
}

// In pieces, and not always before the deadline.
SimulatedBroker::Io SimulatedBroker::give(unsigned char* bytes, size_t capacity, size_t* received,
                                          int64_t deadline_ns) {
  pass_time();
  const bool silent = fault_ == Fault::kSilent;
  if (silent || time_.now_ns > deadline_ns) {
    time_.now_ns = std::max(time_.now_ns, deadline_ns);
    situations_.saw(Situation::kBrokerTooSlow);
    return Io::kTimeout;
  }
  if (waiting_.empty()) return random_.one_in(4) ? Io::kFailed : Io::kClosed;
  const size_t all = std::min(waiting_.size(), capacity);
  *received = random_.one_in(2) ? all : 1 + random_.below(all);
  std::copy_n(waiting_.begin(), *received, bytes);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<long>(*received));
  return Io::kOk;
}

BrokerSocket SimulatedBroker::socket() {
  BrokerSocket socket;
  socket.self = this;
  socket.open = [](void* self, const char*, uint32_t) { return of(self).connect(); };
  socket.send = [](void* self, const unsigned char* bytes, size_t size, int64_t) {
    return of(self).take_request(bytes, size);
  };
  socket.receive = [](void* self, unsigned char* bytes, size_t capacity, size_t* received,
                      int64_t deadline_ns) { return of(self).give(bytes, capacity, received, deadline_ns); };
  socket.close = [](void* self) { of(self).open_ = false; };
  return socket;
}

}  // namespace rollcall::model
