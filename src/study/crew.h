// The workers of one run as processes: started, watched through their pidfds,
// killed and, only when the run is over, reaped: until then no PID of theirs can
// come back as somebody else's. Also watches whatever else the launcher has to
// wait for, so that there is one place in which it waits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "study/spawn.h"

namespace rollcall::study {

struct Member {
  Child child;
  bool gone = false;
  int64_t gone_at_ns = 0;  // CLOCK_MONOTONIC
  std::optional<int> exit_code;
  std::optional<int> exit_signal;
};

class Crew {
 public:
  static base::Result<Crew> create();
  Crew(Crew&&) = default;
  ~Crew();  // kills whatever is left, waits for it for a while, and reaps

  base::Result<void> start(const SpawnRequest& request);
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] bool all_gone() const { return gone_ == members_.size(); }

  // A further descriptor whose readability ends a wait(); `key` says which.
  base::Result<void> watch(int fd, int key);

  // Waits for something to happen, at most until deadline_ns. Returns the keys
  // of the watched descriptors that are readable.
  std::vector<int> wait(int64_t deadline_ns);

  // Whether the process has ended, asked now.
  [[nodiscard]] bool ended(int worker) const;
  void kill(int worker);
  // Those that are gone. One that cannot be ended stays behind, unreaped.
  void reap();

 private:
  explicit Crew(base::Fd epoll) : epoll_(std::move(epoll)) {}
  void note_exit(Member& member);

  base::Fd epoll_;
  std::vector<Member> members_;
  size_t gone_ = 0;
};

}  // namespace rollcall::study
