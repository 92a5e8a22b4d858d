// One page of its own: what is wiped on fork is whole pages.
#include "shim/process_state.h"

#include <sys/mman.h>

#include <new>

#include "base/clock.h"
#include "base/futex.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace rollcall::shim {
namespace {

constexpr size_t kPageBytes = 4096;
static_assert(sizeof(ProcessState) <= kPageBytes);

std::atomic<ProcessState*> g_state{nullptr};

}  // namespace

ProcessState* process_state() {
  ProcessState* known = g_state.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  madvise(page, kPageBytes, MADV_WIPEONFORK);
  // Zeros, as the kernel gives them and as a wiped page has them, are the initial state.
  auto* made = new (page) ProcessState();
  if (g_state.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  munmap(page, kPageBytes);
  return known;
}

Turn::Turn(ProcessState* state, uint32_t own_pid) : state_(state) {
  for (;;) {
    uint32_t holder = state_->busy.load(std::memory_order_acquire);
    if (holder == own_pid) {
      base::futex_wait(&state_->busy, own_pid, base::kNsPerSecond);
    } else if (state_->busy.compare_exchange_strong(holder, own_pid, std::memory_order_acq_rel)) {
      return;
    }
  }
}

Turn::~Turn() {
  state_->busy.store(0, std::memory_order_release);
  base::futex_wake(&state_->busy);
}

}  // namespace rollcall::shim
