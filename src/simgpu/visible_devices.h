// CUDA_VISIBLE_DEVICES: which GPUs a process sees, and in which order. libc
// only: part of the stand-in libcuda.
#pragma once

#include "simgpu/protocol.h"

namespace rollcall::simgpu {

struct VisibleDevices {
  unsigned count = 0;
  unsigned gpu[kMaxGpus] = {};  // node index of each CUDA ordinal
};

// `text` null: the variable is not set, every GPU is visible in order. Entries
// are indices or UUIDs ("GPU-…", any prefix that names one GPU only), separated
// by commas, blanks around them ignored. The list stops before the first entry
// that names no GPU, names several, or names one a second time.
VisibleDevices parse_visible_devices(const char* text, unsigned gpus);

}  // namespace rollcall::simgpu
