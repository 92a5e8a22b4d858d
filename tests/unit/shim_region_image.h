// The bytes of a region file made by hand, as another process would have left
// them.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "shim/region.h"

namespace rollcall::test {

class RegionImage {
 public:
  RegionImage() : words_(shim::kRegionSizeBytes / sizeof(uint64_t), 0) {
    header_ = new (words_.data()) shim::RegionHeader{};
    header_->magic.store(shim::kRegionMagic);
    header_->major = shim::kRegionMajor;
    header_->minor = shim::kRegionMinor;
    header_->slots = shim::kRegionSlots;
    header_->slot_size_bytes = sizeof(shim::RegionSlot);
  }
  RegionImage(const RegionImage&) = delete;
  RegionImage& operator=(const RegionImage&) = delete;

  shim::RegionHeader& header() { return *header_; }
  shim::RegionSlot& slot(size_t i) { return reinterpret_cast<shim::RegionSlot*>(header_ + 1)[i]; }

  // The next slot, claimed by that process.
  shim::RegionSlot& claim(int32_t pid, uint64_t start_time, shim::SlotStatus status) {
    shim::RegionSlot& claimed = slot(header_->claimed.fetch_add(1));
    claimed.pid.store(pid);
    claimed.start_time = start_time;
    claimed.status.store(static_cast<uint32_t>(status));
    claimed.lock_wait_ns = claimed.discovery_ns = shim::kRegionUnset;
    claimed.added_ns = claimed.context_added_ns = shim::kRegionUnset;
    return claimed;
  }

  [[nodiscard]] std::string bytes(size_t count = shim::kRegionSizeBytes) const {
    return {reinterpret_cast<const char*>(words_.data()), count};
  }

 private:
  std::vector<uint64_t> words_;
  shim::RegionHeader* header_;
};

}  // namespace rollcall::test
