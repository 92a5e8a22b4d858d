// What the shim remembers of this process: whether it has discovered, and its place in
// the region. A child after a fork is another process and begins anew. The memory is
// told to the kernel as "wiped on fork" (MADV_WIPEONFORK), which works however the child
// was made: a handler at fork is skipped by clone() without the C library, and comparing
// PIDs alone can be fooled, since a child that begins a PID namespace may well have the
// number of its parent. Where the kernel does not know that (before 4.14), PIDs are what
// is left.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/region.h"

namespace rollcall::shim {

struct ProcessState {
  std::atomic<uint32_t> owner{0};  // PID of the process whose discovery at cuInit is over
  std::atomic<uint32_t> busy{0};   // futex: PID of the process one of whose threads is at it
  // Whether a context may still bring something: false once both numbers are known, or
  // enough was tried.
  std::atomic<uint32_t> wants_context{0};
  alignas(Region) unsigned char region[sizeof(Region)] = {};

  [[nodiscard]] Region* joined() { return reinterpret_cast<Region*>(region); }
};

// Null where there is no memory for it.
ProcessState* process_state();

// One thread of this process at a time; others wait, as they would for the driver's own
// initialisation. What another process left there (the parent, before the fork) counts
// for nothing.
class Turn {
 public:
  Turn(ProcessState* state, uint32_t own_pid);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();

 private:
  ProcessState* state_;
};

}  // namespace rollcall::shim
