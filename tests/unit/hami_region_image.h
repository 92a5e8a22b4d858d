// The bytes of a HAMi-core region made by hand, as another process would have
// left them. Offsets are written out, so that they check those of the reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "hami/region.h"

namespace rollcall::test {

class HamiRegionImage {
 public:
  HamiRegionImage() : bytes_(2008953, '\0') {
    put(0, 19920718);
    put(4, 1);
    put(8, 2);
  }

  void put(size_t offset, int32_t value) { memcpy(bytes_.data() + offset, &value, sizeof value); }
  void put_slot(size_t index, int32_t pid, int32_t host_pid) {
    put(1856 + 1960 * index, pid);
    put(1856 + 1960 * index + 4, host_pid);
  }
  void put_used(int32_t slots) { put(2008896, slots); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string bytes(size_t count) const { return bytes_.substr(0, count); }

  // Reads this image; what lies beyond its end is not there.
  [[nodiscard]] hami::ReadAt reader() const {
    return [this](void* buffer, size_t size, uint64_t offset) {
      if (offset > bytes_.size() || size > bytes_.size() - offset) return false;
      memcpy(buffer, bytes_.data() + offset, size);
      return true;
    };
  }
  void resize(size_t size) { bytes_.resize(size); }

 private:
  std::string bytes_;
};

}  // namespace rollcall::test
