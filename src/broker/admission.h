// Which connections may wait. A request that is there with its connection is answered
// at once and never comes here; what waits holds a place, and places are few. Each
// tenant has a bound, so that one of them cannot take what all share. When all places
// are taken, a newcomer of a tenant with few gets the oldest one of the tenant with
// most: who was there first does not decide. Pure: places are numbers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace rollcall::broker {

// Whose a process is. Most pods run as UID 0, so the UID counts only where the kernel
// tells neither a cgroup nor a PID namespace; two containers can share one of these
// two, so both count.
struct TenantKey {
  uint64_t cgroup = 0;         // 0: not known
  uint64_t pid_namespace = 0;  // 0: not known
  uint32_t uid = 0;            // 0 where one of the others is known

  friend auto operator<=>(const TenantKey&, const TenantKey&) = default;
};
TenantKey tenant_key(uint64_t cgroup, uint64_t pid_namespace, uint32_t uid);

struct Bounds {
  uint32_t per_tenant = 512;
  uint32_t total = 4096;
};

using Place = uint32_t;  // 0 … Bounds::total - 1

enum class Verdict { kAdmitted, kTenantFull, kTotalFull };

struct Admitted {
  Verdict verdict = Verdict::kAdmitted;
  Place place = 0;               // with kAdmitted
  std::optional<Place> evicted;  // whose connection has to go; the newcomer's place may be the same
};

class Admission {
 public:
  explicit Admission(Bounds bounds);

  // A newcomer that has to wait. Whoever is evicted has left already.
  Admitted admit(const TenantKey& tenant);
  // A place that was admitted and has neither left nor been evicted since.
  void leave(Place place);

  [[nodiscard]] size_t waiting() const { return waiting_; }
  [[nodiscard]] size_t tenants() const { return tenants_.size(); }

 private:
  static constexpr Place kNone = UINT32_MAX;

  struct Tenant {
    uint32_t waiting = 0;
    Place oldest = kNone;
    Place newest = kNone;
  };
  using Tenants = std::map<TenantKey, Tenant>;
  struct Seat {
    Tenants::iterator tenant;
    Place older = kNone;
    Place newer = kNone;
    bool taken = false;
  };

  void recount(Tenants::iterator tenant, uint32_t waiting);

  Bounds bounds_;
  Tenants tenants_;  // those that have at least one place
  std::set<std::pair<uint32_t, TenantKey>> by_size_;
  std::vector<Seat> seats_;
  std::vector<Place> free_;
  size_t waiting_ = 0;
};

}  // namespace rollcall::broker
