// Copies of HAMi-core's shared region: plain, compressed by gzip or by zstd. Which one it
// is, the bytes say, not the name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hami/verdict.h"

namespace rollcall::importer {

inline constexpr size_t kMaxRegionBytes = size_t{64} << 20;  // as for those that `rollcall run` keeps

// The region itself, unpacked. Bounded before and after unpacking.
base::Result<std::string> unpack_region(std::string_view packed, const std::string& where);

// What a region says, without its megabytes.
struct RegionReading {
  const char* fault = nullptr;  // why it is no evidence; null: `slots` are
  std::vector<hami::Slot> slots;

  [[nodiscard]] hami::Verdict verdict_of(int64_t pid) const;
};
RegionReading read_region(std::string_view region);

}  // namespace rollcall::importer
