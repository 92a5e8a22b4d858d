// A discrete-event simulation with two kinds of events: a parallel part ends, a
// serial part ends. Both are taken in the order of their times; of equals, the
// lock's goes first, so that the next in the queue is not kept waiting.
#include "simgpu/service_model.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace rollcall::simgpu {
namespace {

int64_t to_ns(double ms) {
  return std::llround(ms * static_cast<double>(base::kNsPerMs));
}

bool needs_lock(const OperationCost& cost) {
  return cost.serial_ms > 0 || cost.per_client_ms > 0 || cost.per_context_ms > 0 || cost.crowded_ms > 0;
}

double serial_ms(const OperationCost& cost, const Load& load, size_t waiting) {
  const bool crowded = waiting >= static_cast<size_t>(cost.crowd_waiting);
  return cost.serial_ms + cost.per_client_ms * load.clients + cost.per_context_ms * load.contexts +
         (crowded ? cost.crowded_ms : 0);
}

}  // namespace

ServiceModel::ServiceModel(double time_scale, double jitter, uint64_t seed)
    : time_scale_(time_scale), jitter_(jitter), random_(seed) {}

void ServiceModel::submit(Owner owner, uint64_t ticket, const OperationCost& cost, int64_t now_ns) {
  // 53 random bits as a number in [0, 1); std::uniform_real_distribution may
  // differ from one C++ library to the next, and a seed must not.
  const double uniform = std::ldexp(static_cast<double>(random_() >> 11), -53);
  Operation operation;
  operation.owner = owner;
  operation.ticket = ticket;
  operation.cost = cost;
  operation.factor = time_scale_ * (1 + jitter_ * (2 * uniform - 1));
  operation.arrived_ns = now_ns + to_ns(cost.parallel_ms * operation.factor);
  parallel_.emplace(Key{operation.arrived_ns, submitted_++}, operation);
}

void ServiceModel::abandon(Owner owner) {
  std::erase_if(parallel_, [owner](const auto& entry) { return entry.second.owner == owner; });
  std::erase_if(queue_, [owner](const Operation& operation) { return operation.owner == owner; });
  if (holder_ && holder_->owner == owner) holder_->abandoned = true;
}

void ServiceModel::take_lock(const Load& load) {
  holder_ = queue_.front();
  queue_.pop_front();
  lock_free_ns_ = std::max(lock_free_ns_, holder_->arrived_ns) +
                  to_ns(serial_ms(holder_->cost, load, queue_.size()) * holder_->factor);
}

std::optional<ServiceModel::Completion> ServiceModel::advance(int64_t now_ns, const Load& load) {
  for (;;) {
    // A queue with a free lock exists only between two calls: its head was
    // waiting for the effect of the operation that completed last.
    if (!holder_ && !queue_.empty()) take_lock(load);
    const bool lock_ends = holder_ && lock_free_ns_ <= now_ns;
    const bool parallel_ends = !parallel_.empty() && parallel_.begin()->first.first <= now_ns;
    if (lock_ends && (!parallel_ends || lock_free_ns_ <= parallel_.begin()->first.first)) {
      const Operation ended = *std::exchange(holder_, std::nullopt);
      if (ended.abandoned) continue;
      return Completion{ended.owner, ended.ticket};
    }
    if (!parallel_ends) return std::nullopt;
    const Operation ended = parallel_.extract(parallel_.begin()).mapped();
    if (!needs_lock(ended.cost)) return Completion{ended.owner, ended.ticket};
    queue_.push_back(ended);
  }
}

std::optional<int64_t> ServiceModel::next_event_ns() const {
  std::optional<int64_t> next;
  if (!parallel_.empty()) next = parallel_.begin()->first.first;
  if (holder_) next = std::min(next.value_or(lock_free_ns_), lock_free_ns_);
  if (!holder_ && !queue_.empty()) next = std::max(lock_free_ns_, queue_.front().arrived_ns);
  return next;
}

size_t ServiceModel::pending() const {
  return parallel_.size() + queue_.size() + (holder_ ? 1 : 0);
}

}  // namespace rollcall::simgpu
