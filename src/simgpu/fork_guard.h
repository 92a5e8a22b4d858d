// Tells a process that made a library's state from one that inherited it over
// a fork. A page that the kernel wipes in every child (MADV_WIPEONFORK, Linux
// 4.14) says so. Comparing process ids would not do: a child in a PID namespace
// of its own can have the number of its parent; and fork handlers are skipped
// by a bare clone(). Nothing is mapped before the first claim, so that loading
// the library costs nothing.
#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>

namespace rollcall::simgpu {

class ForkGuard {
 public:
  constexpr ForkGuard() = default;

  // Another process claimed, and this one is a copy of it.
  [[nodiscard]] bool inherited() const {
    const std::atomic<uint32_t>* word = word_.load(std::memory_order_acquire);
    return word != nullptr && word->load(std::memory_order_acquire) == kWiped;
  }

  // Makes this process the owner. `reset` runs once, in one thread, before any
  // claim of this process returns; it must make locks that another thread of
  // the parent may have held usable again. False if there is no memory.
  template <typename Reset>
  bool claim(Reset reset) {
    std::atomic<uint32_t>* word = page();
    if (word == nullptr) return false;
    for (;;) {
      uint32_t state = kWiped;
      if (word->compare_exchange_strong(state, kBusy, std::memory_order_acq_rel)) {
        reset();
        word->store(kClaimed, std::memory_order_release);
        return true;
      }
      if (state == kClaimed) return true;
      sched_yield();
    }
  }

 private:
  static constexpr uint32_t kWiped = 0;
  static constexpr uint32_t kBusy = 1;
  static constexpr uint32_t kClaimed = 2;
  static constexpr size_t kPageBytes = 4096;

  std::atomic<uint32_t>* page() {
    std::atomic<uint32_t>* word = word_.load(std::memory_order_acquire);
    if (word != nullptr) return word;
    void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    if (madvise(memory, kPageBytes, MADV_WIPEONFORK) != 0) {
      munmap(memory, kPageBytes);
      return nullptr;
    }
    auto* fresh = static_cast<std::atomic<uint32_t>*>(memory);
    if (word_.compare_exchange_strong(word, fresh, std::memory_order_acq_rel)) return fresh;
    munmap(memory, kPageBytes);
    return word;
  }

  std::atomic<std::atomic<uint32_t>*> word_{nullptr};
};

}  // namespace rollcall::simgpu
