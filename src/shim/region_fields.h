// The layout of the region, field by field: what `rollcall probe layout` prints and
// what a reader in another language needs. Beside region.h, and held to it by the
// compiler: a field that moves without its line here does not build.
#pragma once

#include <cstddef>

#include "shim/region.h"

namespace rollcall::shim {

struct RegionField {
  const char* name;
  size_t offset;  // in the file; of a slot's field: of slot 0
  size_t size_bytes;
};

#define ROLLCALL_HEADER_FIELD(field)                                   \
  RegionField {                                                        \
#field, offsetof(RegionHeader, field), sizeof(RegionHeader::field) \
  }
#define ROLLCALL_SLOT_FIELD(field)                                                                \
  RegionField {                                                                                   \
    "slot." #field, sizeof(RegionHeader) + offsetof(RegionSlot, field), sizeof(RegionSlot::field) \
  }

inline constexpr RegionField kRegionFields[] = {
    ROLLCALL_HEADER_FIELD(magic),
    ROLLCALL_HEADER_FIELD(major),
    ROLLCALL_HEADER_FIELD(minor),
    ROLLCALL_HEADER_FIELD(slots),
    ROLLCALL_HEADER_FIELD(slot_size_bytes),
    ROLLCALL_HEADER_FIELD(claimed),
    ROLLCALL_HEADER_FIELD(lock_wake),
    ROLLCALL_HEADER_FIELD(reserved),
    ROLLCALL_SLOT_FIELD(pid),
    ROLLCALL_SLOT_FIELD(status),
    ROLLCALL_SLOT_FIELD(start_time),
    ROLLCALL_SLOT_FIELD(pid_namespace),
    ROLLCALL_SLOT_FIELD(assigned_pid),
    ROLLCALL_SLOT_FIELD(tier),
    ROLLCALL_SLOT_FIELD(reason),
    ROLLCALL_SLOT_FIELD(listed_before),
    ROLLCALL_SLOT_FIELD(listed_after),
    ROLLCALL_SLOT_FIELD(reserved0),
    ROLLCALL_SLOT_FIELD(lock_wait_ns),
    ROLLCALL_SLOT_FIELD(discovery_ns),
    ROLLCALL_SLOT_FIELD(added_ns),
    ROLLCALL_SLOT_FIELD(context_added_ns),
    ROLLCALL_SLOT_FIELD(nvml_pid),
    ROLLCALL_SLOT_FIELD(nvml_tier),
    ROLLCALL_SLOT_FIELD(nvml_reason),
    ROLLCALL_SLOT_FIELD(host_status),
    ROLLCALL_SLOT_FIELD(nvml_status),
    ROLLCALL_SLOT_FIELD(nvml_view),
    ROLLCALL_SLOT_FIELD(challenges),
    ROLLCALL_SLOT_FIELD(challenge_rounds),
    ROLLCALL_SLOT_FIELD(reserved),
};
#undef ROLLCALL_HEADER_FIELD
#undef ROLLCALL_SLOT_FIELD

// Each begins where the one before it ends, so none is left out, and the first slot
// follows the header.
constexpr bool region_fields_are_complete() {
  size_t at = 0;
  for (const RegionField& field : kRegionFields) {
    if (field.offset != at) return false;
    at += field.size_bytes;
  }
  return at == sizeof(RegionHeader) + sizeof(RegionSlot);
}
static_assert(region_fields_are_complete());

}  // namespace rollcall::shim
