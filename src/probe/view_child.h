// What `view` and the process that it watches agree on, and how that process is
// started: exec'ed, in the caller's PID namespace or in one of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/error.h"
#include "probe/channel.h"

namespace rollcall::probe {

inline constexpr int kViewChildFd = 3;
// For each step: with many contexts alive, making one can take half a minute.
inline constexpr int64_t kViewStepMs = 60'000;

// Keeps the process (and those between) until it is destroyed, then ends them.
class ViewChild {
 public:
  // `spare_pids`: so many PIDs of the new namespace are used up before, because the
  // small numbers may coincide with something.
  static base::Result<ViewChild> start(bool own_namespace, int spare_pids);
  ViewChild(ViewChild&& other) noexcept
      : channel_(std::move(other.channel_)), pid_(std::exchange(other.pid_, -1)) {}
  ViewChild& operator=(ViewChild&&) = delete;
  ~ViewChild();

  [[nodiscard]] const Channel& channel() const { return channel_; }

 private:
  ViewChild(Channel channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}

  Channel channel_;
  pid_t pid_;  // of our own child, which may be the watched one's grandparent
};

}  // namespace rollcall::probe
