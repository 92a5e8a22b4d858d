// Which entry point cuGetProcAddress gives for a name: driver functions have
// had several binary forms, each since some CUDA version, and a program asks
// for the one that its own toolkit knew. Pure; libc only: part of the stand-in
// libcuda.
#pragma once

#include <cstddef>

namespace rollcall::simgpu {

inline constexpr size_t kMaxProcNameBytes = 40;

struct ProcEntry {
  char
      name[kMaxProcNameBytes];  // without the suffix of a form; in place, which saves the loader a relocation
  int introduced;               // CUDA version, as cuDriverGetVersion counts
  void* function;
};

struct ProcLookup {
  void* function = nullptr;
  int query_result = 0;  // gpu::kCudaProcAddress…
};

// The newest form of `name` that is not newer than `cuda_version`.
ProcLookup find_proc(const ProcEntry* table, size_t count, const char* name, int cuda_version);

}  // namespace rollcall::simgpu
