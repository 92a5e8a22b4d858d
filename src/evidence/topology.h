// The shape of a run: K caches of W workers each, written "KxW". It stands in
// this room, not with the plan, because the records and tables speak of it and
// they must be readable without the launcher.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::evidence {

// The most workers one run may have. 4096 is the size that the simulated node
// is tested with; the bound keeps descriptors, PIDs and region slots finite.
inline constexpr int kMaxWorkers = 4096;

class Topology {
 public:
  // 1x1, the smallest valid one: records are filled in field by field.
  Topology() = default;

  // Accepts exactly "<caches>x<workers per cache>", both decimal, without sign,
  // blank or leading zero, at least 1, their product at most kMaxWorkers.
  static base::Result<Topology> parse(std::string_view text);

  [[nodiscard]] int caches() const { return caches_; }
  [[nodiscard]] int workers_per_cache() const { return workers_per_cache_; }
  [[nodiscard]] int workers() const { return caches_ * workers_per_cache_; }
  // The cache of a worker: workers are numbered cache by cache.
  [[nodiscard]] int cache_of(int worker) const { return worker / workers_per_cache_; }
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Topology&, const Topology&) = default;
  friend auto operator<=>(const Topology&, const Topology&) = default;

 private:
  Topology(int caches, int workers_per_cache) : caches_(caches), workers_per_cache_(workers_per_cache) {}
  int caches_ = 1;
  int workers_per_cache_ = 1;
};

}  // namespace rollcall::evidence
