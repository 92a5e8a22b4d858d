// rollcall-worker: the tiny program under test. It does what any CUDA program
// does first (load the driver, look cuInit up, call it) and nothing else, so
// that what is measured is the driver and the shim, not the worker.
//
// It takes the library the way programs do, dlopen("libcuda.so.1"), before the
// gate, and looks cuInit up after it, because some shims do their set-up inside
// that look-up. It never outlives its launcher: the kernel kills it (the
// parent-death signal), and where that cannot reach, the lifeline's end tells.
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "gpu/abi.h"
#include "worker/board.h"
#include "worker/fault.h"

namespace {

using rollcall::base::futex_wait;
using rollcall::base::kNsPerMs;
using rollcall::base::monotonic_ns;
using namespace rollcall::worker;

constexpr int kBadInvocation = 2;
constexpr int kLauncherGone = 4;
// How long a waiting worker sleeps before it looks at its lifeline again.
constexpr int64_t kLifelineIntervalNs = 500 * kNsPerMs;

bool launcher_gone() {
  pollfd lifeline{kLifelineFd, POLLIN, 0};
  return poll(&lifeline, 1, 0) > 0;  // nothing is ever written to it: readable means its end
}

void wait_for(std::atomic<uint32_t>* word) {
  while (word->load(std::memory_order_acquire) == 0) {
    futex_wait(word, 0, kLifelineIntervalNs);
    if (word->load(std::memory_order_acquire) == 0 && launcher_gone()) _exit(kLauncherGone);
  }
}

void notify_launcher() {
  const uint64_t one = 1;
  while (write(kProgressFd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void reach(BoardSlot* slot, StageCode stage) {
  slot->stage.store(stage, std::memory_order_release);
}

void fail(BoardSlot* slot, const char* what, const char* detail) {
  snprintf(slot->error, sizeof slot->error, "%s: %s", what, detail != nullptr ? detail : "unknown");
}

BoardHeader* map_board(unsigned worker) {
  struct stat info {};
  if (fstat(kBoardFd, &info) != 0 || static_cast<size_t>(info.st_size) < sizeof(BoardHeader)) return nullptr;
  const auto size = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, kBoardFd, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* board = static_cast<BoardHeader*>(memory);
  const bool ours = board->magic == kBoardMagic && board->version == kBoardVersion &&
                    worker < board->workers && board_size_bytes(board->workers) <= size;
  return ours ? board : nullptr;
}

void make_context(void* driver, BoardSlot* slot) {
  using namespace rollcall::gpu;
  const auto device_get = reinterpret_cast<CuDeviceGetFn>(dlsym(driver, "cuDeviceGet"));
  const auto retain = reinterpret_cast<CuDevicePrimaryCtxRetainFn>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  if (device_get == nullptr || retain == nullptr) {
    fail(slot, "look up cuDevicePrimaryCtxRetain", dlerror());
    return;
  }
  CuDevice device = 0;
  slot->context_result = device_get(&device, 0);
  if (slot->context_result != kCudaSuccess) return;
  CuContext context = nullptr;
  const int64_t start_ns = monotonic_ns();
  slot->context_result = retain(&context, device);  // kept until the process ends, as applications do
  slot->context_ns = monotonic_ns() - start_ns;
}

void work(void* driver, BoardHeader* board, BoardSlot* slot) {
  const int64_t resolve_start_ns = monotonic_ns();
  const auto cu_init = reinterpret_cast<rollcall::gpu::CuInitFn>(dlsym(driver, "cuInit"));
  const int64_t init_start_ns = monotonic_ns();
  slot->resolve_ns = init_start_ns - resolve_start_ns;
  if (cu_init == nullptr) {
    fail(slot, "look up cuInit", dlerror());
    return;
  }
  slot->cuinit_result = cu_init(0);
  slot->cuinit_ns = monotonic_ns() - init_start_ns;
  reach(slot, kStageInitialised);
  if (slot->cuinit_result == rollcall::gpu::kCudaSuccess && board->workload == kWorkloadContext) {
    make_context(driver, slot);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "return-at-once") == 0) return 0;  // the benchmark's floor
  char* end = nullptr;
  const unsigned long worker = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
  BoardHeader* board =
      argc == 2 && end != argv[1] && *end == '\0' ? map_board(static_cast<unsigned>(worker)) : nullptr;
  if (board == nullptr) {
    static const char message[] =
        "rollcall-worker: not started by rollcall; it is the program under test, see rollcall run\n";
    return write(STDERR_FILENO, message, sizeof message - 1) < 0 ? kBadInvocation : kBadInvocation;
  }
  BoardSlot* slot = &board_slots(board)[worker];
  const char* faults = getenv("ROLLCALL_WORKER_FAULT");
  const auto fault_at = [&](const char* stage) {
    if (faults != nullptr) carry_out(find_fault(faults, static_cast<unsigned>(worker), stage));
  };

  reach(slot, kStageStarted);
  fault_at("start");
  const int64_t load_start_ns = monotonic_ns();
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  slot->load_ns = monotonic_ns() - load_start_ns;
  if (driver == nullptr) fail(slot, "load the driver", dlerror());

  fault_at("gate");
  reach(slot, kStageReady);
  notify_launcher();
  wait_for(&board->gate);
  slot->released_at_ns = monotonic_ns();
  reach(slot, kStageReleased);
  fault_at("release");

  if (driver != nullptr) work(driver, board, slot);
  slot->finished_at_ns = monotonic_ns();
  reach(slot, kStageFinished);
  fault_at("finish");
  notify_launcher();
  wait_for(&slot->leave);
  return 0;
}
