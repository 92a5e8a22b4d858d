// How many bytes one entry of a process list really takes. NVML documents it per
// version of the call, but some drivers wrote longer entries than their headers
// said; who reads such a list with the documented size reads numbers that are
// nobody's. So the buffer is filled with a pattern first, and what was overwritten
// is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace rollcall::probe {

inline constexpr unsigned char kSentinel = 0xA5;
inline constexpr size_t kMinStrideBytes = 16;
inline constexpr size_t kMaxStrideBytes = 64;  // nothing longer than 32 was seen

// From a buffer that was all kSentinel before the call wrote `count` entries into it.
// Entries are multiples of 8 bytes and end with a field, not with padding. Unset: no
// entry, or what was overwritten is not that many equal entries (a driver that
// clears the whole buffer, for one).
inline std::optional<int> measured_stride(std::span<const unsigned char> buffer, size_t count) {
  size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == kSentinel) --written;
  written = (written + 7) / 8 * 8;
  if (count == 0 || written % count != 0) return std::nullopt;
  const size_t stride = written / count;
  if (stride % 8 != 0 || stride < kMinStrideBytes || stride > kMaxStrideBytes) return std::nullopt;
  return static_cast<int>(stride);
}

}  // namespace rollcall::probe
