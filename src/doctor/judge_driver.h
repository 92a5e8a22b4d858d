// The driver's part of the judgement.
#pragma once

#include <cstdint>
#include <vector>

#include "doctor/judge.h"

namespace rollcall::doctor {

// From the CUDA driver to persistence mode, in the order of the report.
std::vector<Check> judge_driver(const Facts& facts);
// Contexts of all workers against the memory of the device that they are made on.
Check judge_device_memory(const Facts& facts);

inline uint64_t to_mib(uint64_t bytes) {
  return bytes >> 20;
}

}  // namespace rollcall::doctor
