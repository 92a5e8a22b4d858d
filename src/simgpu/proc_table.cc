// A plain search: a few dozen rows, asked for a few names per process.
#include "simgpu/proc_table.h"

#include <string.h>

#include "gpu/abi.h"

namespace rollcall::simgpu {

ProcLookup find_proc(const ProcEntry* table, size_t count, const char* name, int cuda_version) {
  const ProcEntry* best = nullptr;
  bool known = false;
  for (size_t i = 0; i < count; ++i) {
    const ProcEntry& entry = table[i];
    if (strcmp(entry.name, name) != 0) continue;
    known = true;
    if (entry.introduced > cuda_version) continue;
    if (best == nullptr || entry.introduced >= best->introduced) best = &entry;
  }
  if (best != nullptr) return {best->function, gpu::kCudaProcAddressFound};
  return {nullptr, known ? gpu::kCudaProcAddressVersionNotSufficient : gpu::kCudaProcAddressSymbolNotFound};
}

}  // namespace rollcall::simgpu
