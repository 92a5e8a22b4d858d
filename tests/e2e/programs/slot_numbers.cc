// Prints what the slots of a Rollcall region say of both numbers, one slot a line:
//   pid status host_pid/tier/reason nvml_pid/tier/reason challenges
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "shim/region.h"

namespace {

using namespace rollcall::shim;

void print_number(int pid, uint32_t tier, uint32_t reason) {
  std::printf(" %d/%s/%s", pid, to_text(static_cast<Tier>(tier)), to_text(static_cast<Reason>(reason)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() != kRegionSizeBytes) return 1;
  const auto* header = reinterpret_cast<const RegionHeader*>(bytes.data());
  if (check_region(*header, bytes.size()) != RegionCheck::kValid) return 1;
  const auto* slots = reinterpret_cast<const RegionSlot*>(header + 1);
  for (uint32_t i = 0; i < kRegionSlots; ++i) {
    const RegionSlot& slot = slots[i];
    if (slot.pid.load() == 0) continue;
    std::printf("%d %u", slot.pid.load(), slot.status.load());
    print_number(slot.assigned_pid, slot.tier, slot.reason);
    print_number(slot.nvml_pid, slot.nvml_tier, slot.nvml_reason);
    std::printf(" %u\n", slot.challenges);
  }
  return 0;
}
