// Prints the slots of a Rollcall region, one a line: pid status assigned reason. With
// "numbers": what each says of both numbers, pid status host nvml challenges, where a
// number is number/tier/reason.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "shim/region.h"

namespace {

using namespace rollcall::shim;

void print_number(int pid, uint32_t tier, uint32_t reason) {
  std::printf(" %d/%s/%s", pid, to_text(static_cast<Tier>(tier)), to_text(static_cast<Reason>(reason)));
}

void print_slot(const RegionSlot& slot, bool numbers) {
  std::printf("%d %u", slot.pid.load(), slot.status.load());
  if (numbers) {
    print_number(slot.assigned_pid, slot.tier, slot.reason);
    print_number(slot.nvml_pid, slot.nvml_tier, slot.nvml_reason);
    std::printf(" %u\n", slot.challenges);
  } else {
    std::printf(" %d %s\n", slot.assigned_pid, to_text(static_cast<Reason>(slot.reason)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool numbers = argc == 3 && std::strcmp(argv[2], "numbers") == 0;
  if (argc != 2 && !numbers) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() != kRegionSizeBytes) return 1;
  const auto* header = reinterpret_cast<const RegionHeader*>(bytes.data());
  if (check_region(*header, bytes.size()) != RegionCheck::kValid) return 1;
  const auto* slots = reinterpret_cast<const RegionSlot*>(header + 1);
  for (uint32_t i = 0; i < kRegionSlots; ++i) {
    if (slots[i].pid.load() != 0) print_slot(slots[i], numbers);
  }
  return 0;
}
