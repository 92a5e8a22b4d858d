// The bytes come from a fixed mixing function, so that the UUIDs of
// neighbouring indices differ early: an abbreviated UUID is then still unique.
#include "simgpu/uuid.h"

#include <string.h>

#include <cstdint>

namespace rollcall::simgpu {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

gpu::CuUuid gpu_uuid(unsigned gpu) {
  gpu::CuUuid uuid{};
  for (unsigned half = 0; half < 2; ++half) {
    const uint64_t bits = mix(uint64_t{gpu} * 2 + half);
    for (unsigned i = 0; i < 8; ++i) {
      uuid.bytes[half * 8 + i] = static_cast<unsigned char>(bits >> (8 * (7 - i)));
    }
  }
  return uuid;
}

void format_uuid(const gpu::CuUuid& uuid, char (&text)[kUuidTextSize]) {
  const char digits[] = "0123456789abcdef";
  char* at = text;
  memcpy(at, "GPU-", 4);
  at += 4;
  for (unsigned i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    *at++ = digits[uuid.bytes[i] >> 4];
    *at++ = digits[uuid.bytes[i] & 15];
  }
  *at = '\0';
}

}  // namespace rollcall::simgpu
