// A world for libhostpid that a test writes down: a clock that moves only when somebody
// sleeps, a kernel that says what it is told to, and a broker that follows a script.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "hostpid/broker_client.h"
#include "hostpid/tiers.h"

namespace rollcall::hostpid {

inline constexpr int64_t kMs = 1'000'000;

// What one connection does: how opening ends, then what is sent back in pieces, then how
// the stream goes on.
struct ScriptedConnection {
  BrokerSocket::Open open = BrokerSocket::Open::kOk;
  std::vector<std::string> pieces;
  BrokerSocket::Io end = BrokerSocket::Io::kClosed;
};

struct ScriptedWorld {
  int64_t now_ns = 1000 * kMs;
  SelfFacts self{.own_pid = 7, .pid_namespace = 555, .start_time = 4242};
  bool has_randomness = true;

  // The connections of the script, one after the other; the last one is repeated.
  std::deque<ScriptedConnection> script;
  // What happened.
  std::vector<std::string> requests;
  int opened = 0;
  int closed = 0;

  Clock clock() {
    return {this, [](void* s) { return static_cast<ScriptedWorld*>(s)->now_ns; },
            [](void* s, int64_t ns) { static_cast<ScriptedWorld*>(s)->now_ns += ns; }};
  }
  RandomSource random() {
    return {this, [](void* s, void* bytes, size_t size) {
              memset(bytes, 0x5a, size);
              return static_cast<ScriptedWorld*>(s)->has_randomness;
            }};
  }
  Kernel kernel() {
    return {this,
            [](void* s, SelfFacts* facts) {
              *facts = static_cast<ScriptedWorld*>(s)->self;
              facts->start_time = 0;
            },
            [](void* s, SelfFacts* facts) {
              facts->start_time = static_cast<ScriptedWorld*>(s)->self.start_time;
            }};
  }
  BrokerSocket socket() {
    return {this, [](void* s, const char*, uint32_t) { return static_cast<ScriptedWorld*>(s)->open(); },
            [](void* s, const unsigned char* bytes, size_t size, int64_t) {
              static_cast<ScriptedWorld*>(s)->requests.emplace_back(reinterpret_cast<const char*>(bytes),
                                                                    size);
              return BrokerSocket::Io::kOk;
            },
            [](void* s, unsigned char* bytes, size_t capacity, size_t* received, int64_t deadline_ns) {
              return static_cast<ScriptedWorld*>(s)->receive(bytes, capacity, received, deadline_ns);
            },
            [](void* s) { ++static_cast<ScriptedWorld*>(s)->closed; }};
  }
  World world() { return {clock(), random(), kernel(), socket(), {}}; }

  BrokerAnswer ask(int64_t deadline_ms = 500) {
    SelfFacts facts;
    const Kernel k = kernel();
    k.read_namespace(k.self, &facts);
    return ask_broker(socket(), "/run/hostpid/broker.sock", 0, clock(), random(), k, &facts,
                      now_ns + deadline_ms * kMs);
  }

 private:
  BrokerSocket::Open open() {
    now_ns += kMs / 100;
    current_ = script.front();
    if (script.size() > 1) script.pop_front();
    opened += current_.open == BrokerSocket::Open::kOk;
    return current_.open;
  }
  BrokerSocket::Io receive(unsigned char* bytes, size_t capacity, size_t* received, int64_t deadline_ns) {
    if (!current_.pieces.empty()) {
      const std::string piece = current_.pieces.front();
      current_.pieces.erase(current_.pieces.begin());
      *received = std::min(capacity, piece.size());
      memcpy(bytes, piece.data(), *received);
      return BrokerSocket::Io::kOk;
    }
    if (current_.end == BrokerSocket::Io::kTimeout) now_ns = std::max(now_ns, deadline_ns);
    return current_.end;
  }

  ScriptedConnection current_;
};

inline std::string answer_bytes(Command command, const ExtendedAnswer& answer) {
  unsigned char bytes[kExtendedAnswerBytes];
  const size_t length = write_answer(command, answer, bytes);
  return {reinterpret_cast<const char*>(bytes), length};
}

inline ExtendedAnswer right_answer(const ScriptedWorld& world, uint32_t host_pid,
                                   hostpid_nvml_view view = HOSTPID_VIEW_TRANSLATED) {
  ExtendedAnswer answer;
  answer.pid = host_pid;
  answer.view = view;
  answer.start_time = world.self.start_time;
  answer.pid_namespace = world.self.pid_namespace;
  return answer;
}

inline ScriptedConnection says(Command command, const ExtendedAnswer& answer) {
  return {BrokerSocket::Open::kOk, {answer_bytes(command, answer)}, BrokerSocket::Io::kClosed};
}

inline ExtendedAnswer status_only(WireStatus status) {
  ExtendedAnswer answer;
  answer.status = status;
  return answer;
}

}  // namespace rollcall::hostpid
