// Messages between `view` and a child of it: one JSON document each, over a socket
// that keeps their borders. The kernel stamps each with the sender's PID, translated
// for the reader: so the parent learns the child's PID in its own namespace without
// believing the child and without /proc.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/json_object.h"

namespace rollcall::probe {

class Channel {
 public:
  explicit Channel(base::Fd fd) : fd_(std::move(fd)) {}

  // Both ends; the first one learns who sends.
  static base::Result<std::pair<Channel, Channel>> make();

  [[nodiscard]] base::Result<void> send(const evidence::Json& message) const;

  struct Received {
    evidence::Json message;
    pid_t sender = 0;  // 0: not told, or not visible from here
  };
  // The next message; an error if none comes in time or the other end is gone.
  [[nodiscard]] base::Result<Received> receive(int64_t deadline_ms) const;

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  base::Fd fd_;
};

}  // namespace rollcall::probe
