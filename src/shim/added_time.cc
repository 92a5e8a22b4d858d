// A relaxed counter: sums of durations need no order between threads.
#include "shim/added_time.h"

#include <atomic>

namespace rollcall::shim {
namespace {
std::atomic<int64_t> g_added_ns{0};
}

void add_time(int64_t ns) {
  g_added_ns.fetch_add(ns, std::memory_order_relaxed);
}
int64_t added_time_ns() {
  return g_added_ns.load(std::memory_order_relaxed);
}

}  // namespace rollcall::shim
