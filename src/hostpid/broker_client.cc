// What may be tried again, and how often, is all decided here; the socket only says
// what happened.
#include "hostpid/broker_client.h"

#include <climits>

namespace rollcall::hostpid {
namespace {

// Pauses between tries, doubled each time, of which a random half to whole is slept: so
// that those who were turned away together do not come back together.
constexpr int64_t kFirstPauseNs = 1'000'000;
constexpr int64_t kLongestPauseNs = 20'000'000;

enum class Exchange { kAnswered, kBroken, kTimeout, kMalformed };

Exchange exchange(const BrokerSocket& socket, Command command, int64_t deadline_ns, ExtendedAnswer* answer) {
  unsigned char request[kRequestBytes];
  write_request(command, request);
  // A server that turns its client away closes without reading, so that the sending
  // may fail though an answer is there.
  const BrokerSocket::Io sent = socket.send(socket.self, request, sizeof request, deadline_ns);
  if (sent == BrokerSocket::Io::kTimeout) return Exchange::kTimeout;
  // One byte more than an answer has, to notice one that is too long.
  unsigned char bytes[kExtendedAnswerBytes + 1];
  size_t length = 0;
  for (;;) {
    size_t received = 0;
    const BrokerSocket::Io io =
        socket.receive(socket.self, bytes + length, sizeof bytes - length, &received, deadline_ns);
    if (io == BrokerSocket::Io::kTimeout) return Exchange::kTimeout;
    if (io != BrokerSocket::Io::kOk) return Exchange::kBroken;
    length += received;
    switch (parse_answer(command, bytes, length, answer)) {
      case Parse::kComplete:
        return Exchange::kAnswered;
      case Parse::kMalformed:
        return Exchange::kMalformed;
      case Parse::kIncomplete:
        break;
    }
  }
}

// An answer that speaks of another process than this one is worse than none.
bool speaks_of_us(const ExtendedAnswer& answer, const SelfFacts& facts) {
  if (facts.in_initial_pid_namespace && static_cast<int32_t>(answer.pid) != facts.own_pid) return false;
  if (answer.pid_namespace != 0 && facts.pid_namespace != 0 && answer.pid_namespace != facts.pid_namespace)
    return false;
  return answer.start_time == 0 || facts.start_time == 0 || answer.start_time == facts.start_time;
}

class Retry {
 public:
  Retry(const Clock& clock, const RandomSource& random, int64_t deadline_ns)
      : clock_(clock), random_(random), deadline_ns_(deadline_ns) {}

  [[nodiscard]] int64_t now_ns() const { return clock_.now_ns(clock_.self); }
  [[nodiscard]] bool over() const { return now_ns() >= deadline_ns_; }

  void pause() {
    uint32_t noise = 0;
    // Without randomness all sleep equally long: a nuisance, no danger.
    if (!random_.fill(random_.self, &noise, sizeof noise)) noise = 0;
    int64_t ns = pause_ns_ / 2 + static_cast<int64_t>(noise % static_cast<uint32_t>(pause_ns_ / 2 + 1));
    const int64_t left_ns = deadline_ns_ - now_ns();
    if (ns > left_ns) ns = left_ns;
    if (ns > 0) clock_.sleep_ns(clock_.self, ns);
    pause_ns_ = pause_ns_ * 2 < kLongestPauseNs ? pause_ns_ * 2 : kLongestPauseNs;
  }

 private:
  const Clock& clock_;
  const RandomSource& random_;
  int64_t deadline_ns_;
  int64_t pause_ns_ = kFirstPauseNs;
};

BrokerAnswer failed(Reason reason) {
  BrokerAnswer answer;
  answer.reason = reason;
  return answer;
}

BrokerAnswer accept(const ExtendedAnswer& said, const Kernel& kernel, SelfFacts* facts) {
  kernel.read_rest(kernel.self, facts);
  if (!speaks_of_us(said, *facts)) return failed(Reason::kBrokerNonsense);
  BrokerAnswer answer;
  answer.host_pid = static_cast<int32_t>(said.pid);
  answer.view = said.view;
  return answer;
}

}  // namespace

BrokerAnswer ask_broker(const BrokerSocket& socket, const char* path, uint32_t trusted_uid,
                        const Clock& clock, const RandomSource& random, const Kernel& kernel,
                        SelfFacts* facts, int64_t deadline_ns) {
  Retry retry(clock, random, deadline_ns);
  Command command = Command::kExtended;
  int64_t missing_since_ns = 0;
  bool missing = false;
  int broken = 0;
  Reason last = Reason::kBrokerTimeout;  // what the deadline then means
  while (!retry.over()) {
    switch (socket.open(socket.self, path, trusted_uid)) {
      case BrokerSocket::Open::kOk:
        break;
      case BrokerSocket::Open::kBacklogFull:
        last = Reason::kBrokerTimeout;
        retry.pause();
        continue;
      case BrokerSocket::Open::kNotThere:
        last = Reason::kBrokerGone;
        if (!missing) missing_since_ns = retry.now_ns();
        missing = true;
        if (retry.now_ns() - missing_since_ns >= kRestartGraceNs) return failed(last);
        retry.pause();
        continue;
      case BrokerSocket::Open::kUntrusted:
        return failed(Reason::kBrokerUntrusted);
      case BrokerSocket::Open::kNoPermission:
        return failed(Reason::kBrokerRefused);
      case BrokerSocket::Open::kFailed:
        return failed(Reason::kBrokerGone);
    }
    missing = false;
    ExtendedAnswer said;
    const Exchange ended = exchange(socket, command, deadline_ns, &said);
    socket.close(socket.self);
    if (ended == Exchange::kTimeout) return failed(Reason::kBrokerTimeout);
    if (ended == Exchange::kMalformed) return failed(Reason::kBrokerNonsense);
    if (ended == Exchange::kBroken) {
      // It went between our connecting and its answer: restarted, or an upstream one that
      // has too many connections and says so by closing.
      last = Reason::kBrokerGone;
      if (++broken == kMaxBrokenExchanges) return failed(last);
      retry.pause();
      continue;
    }
    switch (said.status) {
      case WireStatus::kOk:
        return accept(said, kernel, facts);
      case WireStatus::kBusy:
        last = Reason::kBrokerBusy;
        retry.pause();
        continue;
      case WireStatus::kInvalidRequest:
        if (command == Command::kPid) return failed(Reason::kBrokerRefused);
        command = Command::kPid;  // an upstream server: it knows no other
        continue;
      case WireStatus::kPeerGone:
        return failed(Reason::kBrokerNonsense);  // we are here: it cannot see us
    }
  }
  return failed(last);
}

}  // namespace rollcall::hostpid
