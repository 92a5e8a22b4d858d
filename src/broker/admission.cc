// The seats of a tenant are a list from its oldest to its newest, and the tenants are
// ordered by how many they have; so nothing here searches.
#include "broker/admission.h"

#include <cstdlib>

namespace rollcall::broker {

TenantKey tenant_key(uint64_t cgroup, uint64_t pid_namespace, uint32_t uid) {
  const bool known = cgroup != 0 || pid_namespace != 0;
  return {cgroup, pid_namespace, known ? 0 : uid};
}

Admission::Admission(Bounds bounds) : bounds_(bounds), seats_(bounds.total) {
  free_.reserve(bounds.total);
  for (Place place = bounds.total; place > 0; --place) free_.push_back(place - 1);
}

void Admission::recount(Tenants::iterator tenant, uint32_t waiting) {
  by_size_.erase({tenant->second.waiting, tenant->first});
  tenant->second.waiting = waiting;
  if (waiting == 0) {
    tenants_.erase(tenant);
  } else {
    by_size_.emplace(waiting, tenant->first);
  }
}

Admitted Admission::admit(const TenantKey& key) {
  const auto found = tenants_.find(key);
  const uint32_t held = found == tenants_.end() ? 0 : found->second.waiting;
  if (held >= bounds_.per_tenant) return {Verdict::kTenantFull, 0, {}};
  Admitted admitted;
  if (free_.empty()) {
    // Only where the newcomer's tenant still has fewer afterwards, or as many: otherwise
    // two equals would go on putting each other out.
    if (by_size_.empty() || by_size_.rbegin()->first <= held + 1) return {Verdict::kTotalFull, 0, {}};
    admitted.evicted = tenants_.at(by_size_.rbegin()->second).oldest;
    leave(*admitted.evicted);
  }
  const auto tenant = tenants_.try_emplace(key).first;
  admitted.place = free_.back();
  free_.pop_back();
  Seat& seat = seats_[admitted.place];
  seat = {tenant, tenant->second.newest, kNone, true};
  (seat.older == kNone ? tenant->second.oldest : seats_[seat.older].newer) = admitted.place;
  tenant->second.newest = admitted.place;
  recount(tenant, held + 1);
  ++waiting_;
  return admitted;
}

void Admission::leave(Place place) {
  if (place >= seats_.size() || !seats_[place].taken) std::abort();  // a fault of ours
  Seat& seat = seats_[place];
  Tenant& tenant = seat.tenant->second;
  (seat.older == kNone ? tenant.oldest : seats_[seat.older].newer) = seat.newer;
  (seat.newer == kNone ? tenant.newest : seats_[seat.newer].older) = seat.older;
  recount(seat.tenant, tenant.waiting - 1);
  seat = {};
  free_.push_back(place);
  --waiting_;
}

}  // namespace rollcall::broker
