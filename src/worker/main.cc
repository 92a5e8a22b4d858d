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

// A library in this process may have closed our descriptors, or got their numbers
// for something of its own; neither may look like a launcher that is gone.
bool launcher_gone() {
  pollfd lifeline{kLifelineFd, POLLIN, 0};
  // Nothing is ever written to it: the end of a pipe, and only that, is a hang-up
  // with nothing to read.
  return poll(&lifeline, 1, 0) > 0 && lifeline.revents == POLLHUP;
}

void wait_for(std::atomic<uint32_t>* word) {
  while (word->load(std::memory_order_acquire) == 0) {
    futex_wait(word, 0, kLifelineIntervalNs);
    if (word->load(std::memory_order_acquire) == 0 && launcher_gone()) _exit(kLauncherGone);
  }
}

// Without this the launcher sees the new stage a little later. So it is left out
// where the number may stand for somebody else's file.
void notify_launcher() {
  char target[32] = {};
  static const char expected[] = "anon_inode:[eventfd]";
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", kProgressFd);
  const ssize_t length = readlink(link, target, sizeof target);
  if (length != sizeof expected - 1 || memcmp(target, expected, sizeof expected - 1) != 0) return;
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

using rollcall::gpu::CuContext;
using rollcall::gpu::CuDevice;

// The calls that need more than cuInit, looked up when they are needed, as an
// application would.
struct ContextCalls {
  rollcall::gpu::CuDeviceGetFn device_get;
  rollcall::gpu::CuDevicePrimaryCtxRetainFn retain;
  rollcall::gpu::CuDevicePrimaryCtxReleaseFn release;
};

bool look_up(void* driver, BoardSlot* slot, ContextCalls* calls) {
  calls->device_get = reinterpret_cast<rollcall::gpu::CuDeviceGetFn>(dlsym(driver, "cuDeviceGet"));
  calls->retain =
      reinterpret_cast<rollcall::gpu::CuDevicePrimaryCtxRetainFn>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  calls->release = reinterpret_cast<rollcall::gpu::CuDevicePrimaryCtxReleaseFn>(
      dlsym(driver, "cuDevicePrimaryCtxRelease_v2"));
  if (calls->device_get != nullptr && calls->retain != nullptr && calls->release != nullptr) return true;
  fail(slot, "look up the context functions", dlerror());
  return false;
}

void note_result(BoardSlot* slot, const char* call, int result) {
  if (result == 0 || slot->error[0] != '\0') return;
  snprintf(slot->error, sizeof slot->error, "%s returned %d%s", call, result,
           result == rollcall::gpu::kCudaOutOfMemory ? " (out of memory)" : "");
}

int retain_first(const ContextCalls& calls, CuDevice* device, CuContext* context) {
  const int result = calls.device_get(device, 0);
  return result == rollcall::gpu::kCudaSuccess ? calls.retain(context, *device) : result;
}

void make_context(const ContextCalls& calls, BoardSlot* slot) {
  CuDevice device = 0;
  CuContext context = nullptr;
  const int64_t start_ns = monotonic_ns();
  slot->context_result = retain_first(calls, &device, &context);  // kept, as applications do
  slot->context_ns = monotonic_ns() - start_ns;
  note_result(slot, "cuDevicePrimaryCtxRetain", slot->context_result);
}

void probe(const ContextCalls& calls, BoardSlot* slot) {
  CuDevice device = 0;
  CuContext context = nullptr;
  const int64_t start_ns = monotonic_ns();
  int result = retain_first(calls, &device, &context);
  if (result == rollcall::gpu::kCudaSuccess) result = calls.release(device);
  slot->control_result = result;
  slot->control_ns = monotonic_ns() - start_ns;
  note_result(slot, "the retained and released context", result);
}

void work_on_cuda(void* driver, BoardHeader* board, BoardSlot* slot) {
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
  note_result(slot, "cuInit", slot->cuinit_result);
  reach(slot, kStageInitialised);
  const bool probes = board->exercise == kExerciseProbe;
  const bool keeps_context = board->workload == kWorkloadContext;
  ContextCalls calls;
  if (slot->cuinit_result != rollcall::gpu::kCudaSuccess || !(probes || keeps_context) ||
      !look_up(driver, slot, &calls)) {
    return;
  }
  if (probes) probe(calls, slot);
  if (keeps_context) make_context(calls, slot);
}

void work_on_nvml(void* nvml, BoardSlot* slot) {
  const int64_t resolve_start_ns = monotonic_ns();
  const auto init = reinterpret_cast<rollcall::gpu::NvmlInitFn>(dlsym(nvml, "nvmlInit_v2"));
  const int64_t init_start_ns = monotonic_ns();
  slot->resolve_ns = init_start_ns - resolve_start_ns;
  if (init == nullptr) {
    fail(slot, "look up nvmlInit_v2", dlerror());
    return;
  }
  slot->control_result = init();
  slot->control_ns = monotonic_ns() - init_start_ns;
  note_result(slot, "nvmlInit_v2", slot->control_result);
  reach(slot, kStageInitialised);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "return-at-once") == 0) return 0;  // the benchmark's floor
  if (argc == 2 && strcmp(argv[1], "say-loaded") == 0) {  // shows that a preloaded library lets main run
    static const char word[] = "loaded\n";
    return write(STDOUT_FILENO, word, sizeof word - 1) == sizeof word - 1 ? 0 : 1;
  }
  char* end = nullptr;
  const unsigned long worker = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
  BoardHeader* board =
      argc == 2 && end != argv[1] && *end == '\0' ? map_board(static_cast<unsigned>(worker)) : nullptr;
  if (board == nullptr) {
    static const char message[] =
        "rollcall-worker: descriptor 3 is not a board that rollcall made: started by hand, or a preloaded "
        "library closed or replaced it; it is the program under test, see rollcall run\n";
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
  const bool on_nvml = board->exercise == kExerciseNvmlInit;
  void* library = dlopen(on_nvml ? "libnvidia-ml.so.1" : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  slot->load_ns = monotonic_ns() - load_start_ns;
  if (library == nullptr) fail(slot, on_nvml ? "load NVML" : "load the driver", dlerror());

  fault_at("gate");
  reach(slot, kStageReady);
  notify_launcher();
  wait_for(&board->gate);
  slot->released_at_ns = monotonic_ns();
  reach(slot, kStageReleased);
  fault_at("release");

  if (library != nullptr && on_nvml) work_on_nvml(library, slot);
  if (library != nullptr && !on_nvml) work_on_cuda(library, board, slot);
  slot->finished_at_ns = monotonic_ns();
  reach(slot, kStageFinished);
  fault_at("finish");
  notify_launcher();
  wait_for(&slot->leave);
  return 0;
}
