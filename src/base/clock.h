// Time as this project counts it: nanoseconds of CLOCK_MONOTONIC, comparable
// between the processes of one machine. Wall-clock time is used only to date
// evidence, never to measure.
#pragma once

#include <time.h>

#include <cstdint>

namespace rollcall::base {

inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

inline int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

inline timespec to_timespec(int64_t ns) {
  if (ns < 0) ns = 0;
  timespec result{};
  result.tv_sec = static_cast<time_t>(ns / kNsPerSecond);
  result.tv_nsec = static_cast<long>(ns % kNsPerSecond);
  return result;
}

}  // namespace rollcall::base
