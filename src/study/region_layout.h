// The layouts of the regions that are known, and which of them a file has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace rollcall::study {

struct LayoutNumber {
  std::string name;
  uint64_t number = 0;
};
struct Layout {
  std::string name;  // "rollcall", "hami-core"
  std::string version;
  std::vector<LayoutNumber> numbers;  // sizes, counts, and offset and size of each field
};
// Ours first.
std::vector<Layout> known_layouts();

struct RegionIdentity {
  std::string layout;   // which of the known ones its magic says; empty: none
  std::string version;  // as its header says; empty where the magic is of none
  uint64_t size_bytes = 0;
  std::optional<uint64_t> slots_used;  // unset where it cannot be read
  std::string misfit;                  // why it is not a region that can be read; empty if it is one
};
// A file that cannot be read is a usage error; one that is no region is none: see misfit.
base::Result<RegionIdentity> identify_region(const std::filesystem::path& file);

}  // namespace rollcall::study
