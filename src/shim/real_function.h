// One real function of the driver, by its name: found on first use, or remembered from a
// look-up that went through us.
#pragma once

#include <atomic>

#include "shim/real.h"

namespace rollcall::shim {

template <const char* kName>
struct Real {
  static inline std::atomic<void*> function{nullptr};

  static void* get() {
    void* known = function.load(std::memory_order_acquire);
    if (known == nullptr) {
      known = real_driver_function(kName);
      function.store(known, std::memory_order_release);
    }
    return known;
  }
  static bool remember(void* found) {
    void* none = nullptr;
    return function.compare_exchange_strong(none, found, std::memory_order_acq_rel) || none == found;
  }
};

}  // namespace rollcall::shim
