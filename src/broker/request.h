// What one connection has sent so far, and what follows from it. Pure: the bytes come
// in from anywhere, in pieces of any size; the state machine of a connection is this
// and the question whether it may wait (admission.h).
#pragma once

#include <array>
#include <cstddef>

#include "hostpid/wire.h"

namespace rollcall::broker {

class Request {
 public:
  enum class Step {
    kWait,     // right so far, and not whole
    kAnswer,   // whole: command() is what was asked
    kInvalid,  // no request of this protocol, or something more than one
    kHangUp,   // the client will send no more, and it was not whole
  };

  // One byte more than a request has, so that a byte too many is seen.
  static constexpr size_t kMostBytes = hostpid::kRequestBytes + 1;

  // Where the next bytes are read to, and how many at most: never 0 while kWait.
  [[nodiscard]] unsigned char* space() { return bytes_.data() + length_; }
  [[nodiscard]] size_t room() const { return kMostBytes - length_; }

  // `received` bytes, at most room(), were read to space(); 0: the end of the stream.
  Step receive(size_t received);

  // What it asks; meaningful after kAnswer.
  [[nodiscard]] hostpid::Command command() const { return command_; }

 private:
  std::array<unsigned char, kMostBytes> bytes_{};
  size_t length_ = 0;
  hostpid::Command command_ = hostpid::Command::kPid;
};

}  // namespace rollcall::broker
