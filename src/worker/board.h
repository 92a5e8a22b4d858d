// The board: shared memory in which the launcher and its workers meet. The
// launcher makes it (a memfd), the workers inherit it. It holds the start gate
// and one slot for each worker, where the worker posts how far it is and what it
// measured. Shared memory rather than a pipe, because a worker that dies in the
// middle must leave behind what it had already measured.
//
// One writer for each word: `gate` and `leave` belong to the launcher, the rest
// of a slot to its worker. A worker writes its figures first and its stage last
// (release); the launcher reads the stage first (acquire).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rollcall::worker {

// The descriptors a worker is started with.
inline constexpr int kBoardFd = 3;     // the board
inline constexpr int kLifelineFd = 4;  // pipe; at its end the launcher is gone
inline constexpr int kProgressFd = 5;  // eventfd; written once when a stage needs the launcher's attention

inline constexpr uint32_t kBoardMagic = 0x42434c52;  // "RLCB"
inline constexpr uint32_t kBoardVersion = 2;

// Not measured. Never 0: nothing that was not measured may look like a fast time.
inline constexpr int64_t kUnset = INT64_MIN;
inline constexpr int32_t kUnsetResult = INT32_MIN;

enum StageCode : uint32_t {
  kStageNone = 0,
  kStageStarted = 1,      // main was reached
  kStageReady = 2,        // driver library loaded (or refused: see error), waiting at the gate
  kStageReleased = 3,     // came out of the gate
  kStageInitialised = 4,  // cuInit returned
  kStageFinished = 5,     // the workload is done; waiting, alive, to be dismissed
};

enum WorkloadCode : uint32_t { kWorkloadInit = 0, kWorkloadContext = 1 };

// What a worker does before its workload.
enum ExerciseCode : uint32_t {
  kExerciseCuInit = 0,
  kExerciseProbe = 1,     // cuInit, then the primary context retained and released once
  kExerciseNvmlInit = 2,  // nvmlInit and nothing of CUDA
};

struct alignas(64) BoardHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t workers;
  uint32_t workload;           // WorkloadCode
  uint32_t exercise;           // ExerciseCode
  std::atomic<uint32_t> gate;  // futex: 0 closed, 1 open
};

struct alignas(64) BoardSlot {
  std::atomic<uint32_t> stage;  // StageCode
  std::atomic<uint32_t> leave;  // futex: 0 stay, 1 leave
  int64_t load_ns;              // duration of loading the driver library
  int64_t released_at_ns;       // moments are CLOCK_MONOTONIC
  int64_t resolve_ns;
  int64_t cuinit_ns;
  int64_t context_ns;
  int64_t control_ns;  // the probe, or nvmlInit
  int64_t finished_at_ns;
  int32_t cuinit_result;   // CUresult
  int32_t context_result;  // CUresult
  int32_t control_result;  // CUresult of the probe, or nvmlReturn_t
  char error[236];         // what went wrong in the worker itself; empty if nothing
};
static_assert(sizeof(BoardSlot) == 320);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

inline constexpr size_t board_size_bytes(uint32_t workers) {
  return sizeof(BoardHeader) + static_cast<size_t>(workers) * sizeof(BoardSlot);
}

inline BoardSlot* board_slots(BoardHeader* header) {
  return reinterpret_cast<BoardSlot*>(header + 1);
}

}  // namespace rollcall::worker
