// The bounds on what is written into evidence and on what is read back. They
// stand together because they belong together: the writer keeps within them, so
// that no evidence is ever written that the reader would refuse; the reader
// insists on them, because a folder may come from anybody.
#pragma once

#include <cstddef>

#include "base/process.h"

namespace rollcall::evidence {

// One text field: PATH_MAX of Linux, the longest thing that a field is for.
inline constexpr size_t kMaxTextBytes = 4096;
inline constexpr size_t kMaxNamespaceDepth = base::kMaxPidNamespaces;
// Threads of a worker that are recorded. A worker with a driver and a shim has
// about ten; the bound only keeps a record from growing without end.
inline constexpr size_t kMaxThreadIds = 1024;
inline constexpr size_t kMaxEvents = 1000;
// Members of the other lists in a run's record: devices, and processes that were there before.
inline constexpr size_t kMaxListed = 4096;

// A run's record is about 1 KB; events of full length could make it larger.
inline constexpr size_t kMaxRunFileBytes = size_t{64} << 20;
// A worker's record is about 0.6 KB, so kMaxWorkers of them are about 2.5 MB.
inline constexpr size_t kMaxWorkersFileBytes = size_t{256} << 20;

// A line for each file: at most about 300 bytes each.
inline constexpr size_t kMaxChecksumsBytes = size_t{256} << 20;

inline constexpr size_t kMaxRuns = 100'000;
// Files that one evidence folder may hold: 100,000 would be 400 runs of 250
// caches each with a log and a region; ten times that is surely a mistake.
inline constexpr size_t kMaxFiles = 1'000'000;
// Attempts at one run before something is plainly wrong with it.
inline constexpr int kMaxAttempts = 10'000;

}  // namespace rollcall::evidence
