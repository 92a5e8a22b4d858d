// Prints the slots of a Rollcall region, one a line: pid status assigned reason.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "shim/region.h"

int main(int argc, char** argv) {
  using namespace rollcall::shim;
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() != kRegionSizeBytes) return 1;
  const auto* header = reinterpret_cast<const RegionHeader*>(bytes.data());
  if (check_region(*header, bytes.size()) != RegionCheck::kValid) return 1;
  const auto* slots = reinterpret_cast<const RegionSlot*>(header + 1);
  for (uint32_t i = 0; i < kRegionSlots; ++i) {
    if (slots[i].pid.load() == 0) continue;
    std::printf("%d %u %d %s\n", slots[i].pid.load(), slots[i].status.load(), slots[i].assigned_pid,
                to_text(static_cast<Reason>(slots[i].reason)));
  }
  return 0;
}
