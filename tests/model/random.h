// Randomness for models: seeded, so that a run can be had again, and cheap, since the
// models draw billions of numbers. splitmix64: every seed is a good one.
#pragma once

#include <cstdint>

namespace rollcall::model {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // 0 … bound - 1; for bounds so small that the bias is below what any model can see.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<__uint128_t>(next()) * bound) >> 64);
  }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

}  // namespace rollcall::model
