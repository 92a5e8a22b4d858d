// The timing model of a driver: when does an operation end that was asked for
// now? Each has a part that its process spends alone, then a part under one
// lock of the whole node, first come first served. Pure: time is passed in, so
// that a test can run an hour in a millisecond, and the ends are chained in
// model time, so that a daemon that wakes up late does not add its lateness to
// a long queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "simgpu/profile.h"

namespace rollcall::simgpu {

// What the serial part of an operation grows with.
struct Load {
  int clients = 0;   // processes that have initialised and live
  int contexts = 0;  // contexts alive on the node
};

class ServiceModel {
 public:
  ServiceModel(double time_scale, double jitter, uint64_t seed);

  // Who asked. One may have several operations under way.
  using Owner = uint64_t;
  struct Completion {
    Owner owner;
    uint64_t ticket;
  };

  // Begins an operation; `now_ns` must not go backwards. `ticket` comes back in
  // its completion.
  void submit(Owner owner, uint64_t ticket, const OperationCost& cost, int64_t now_ns);

  // The owner is gone: what has not reached the lock is dropped; what holds the
  // lock holds it until its end, but completes nothing.
  void abandon(Owner owner);

  // The next operation that has ended by `now_ns`, in the order of their ends.
  // Call until there is none, and apply each one's effect before the next call:
  // the operation that takes the lock after it is priced by `load`.
  std::optional<Completion> advance(int64_t now_ns, const Load& load);

  // When advance() will have something to do; none while idle.
  [[nodiscard]] std::optional<int64_t> next_event_ns() const;

  // Operations under way, the abandoned ones that hold the lock included.
  [[nodiscard]] size_t pending() const;

 private:
  struct Operation {
    Owner owner = 0;
    uint64_t ticket = 0;
    OperationCost cost;
    double factor = 1;       // time scale × this operation's jitter
    int64_t arrived_ns = 0;  // when its parallel part ended
    bool abandoned = false;
  };
  using Key = std::pair<int64_t, uint64_t>;  // time, then order of submission

  void take_lock(const Load& load);

  double time_scale_;
  double jitter_;
  std::mt19937_64 random_;
  uint64_t submitted_ = 0;
  std::map<Key, Operation> parallel_;  // by the end of the parallel part
  std::deque<Operation> queue_;        // for the lock
  std::optional<Operation> holder_;
  int64_t lock_free_ns_ = 0;  // end of the holder, or of the last one
};

}  // namespace rollcall::simgpu
