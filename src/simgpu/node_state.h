// What exists on the simulated node: processes, their contexts and allocations,
// and what that takes on each GPU. Pure bookkeeping, without time and without
// names: processes are numbers here, and how each caller sees them is the
// business of the view (namespace_view.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simgpu/protocol.h"

namespace rollcall::simgpu {

struct DeviceSizes {
  unsigned gpus = 1;
  uint64_t memory_bytes = 0;       // of each GPU
  uint64_t context_bytes = 0;      // that one context takes
  uint64_t granularity_bytes = 1;  // allocations are rounded up to it
};

// Bounds for one process; the stand-in library has room for as many contexts.
inline constexpr size_t kMaxContextsPerProcess = 64;
inline constexpr size_t kMaxAllocationsPerProcess = 65'536;

class NodeState {
 public:
  using ProcessId = uint64_t;
  struct Created {
    Status status;
    uint64_t name;  // of the context or allocation; means something only with kOk
  };
  struct Listed {
    ProcessId process;
    uint64_t used_bytes;
  };

  explicit NodeState(const DeviceSizes& sizes);

  void add_process(ProcessId process);
  // Frees all that it had. Unknown processes are nothing to remove.
  void remove_process(ProcessId process);

  void initialise(ProcessId process);  // its cuInit has succeeded
  [[nodiscard]] bool initialised(ProcessId process) const;

  Created create_context(ProcessId process, unsigned gpu);
  // Takes the context's allocations with it.
  Status destroy_context(ProcessId process, uint64_t context);
  Created allocate(ProcessId process, uint64_t context, uint64_t bytes);
  Status release(ProcessId process, uint64_t pointer);

  // The processes with a context on this GPU, in the order of the first context
  // that each has had there without a gap since.
  [[nodiscard]] std::vector<Listed> list(unsigned gpu) const;
  [[nodiscard]] bool has_gpu(unsigned gpu) const { return gpu < devices_.size(); }
  [[nodiscard]] uint64_t free_bytes(unsigned gpu) const {
    return sizes_.memory_bytes - devices_[gpu].used_bytes;
  }
  [[nodiscard]] uint64_t total_bytes() const { return sizes_.memory_bytes; }

  [[nodiscard]] int initialised_processes() const { return initialised_processes_; }
  [[nodiscard]] int contexts() const { return contexts_; }

 private:
  struct Context {
    unsigned gpu;
  };
  struct Allocation {
    uint64_t context;
    uint64_t bytes;  // rounded up
  };
  struct Process {
    bool initialised = false;
    std::map<uint64_t, Context> contexts;
    std::map<uint64_t, Allocation> allocations;
  };
  // One process on one GPU.
  struct Residence {
    uint64_t order = 0;  // place in the list
    int contexts = 0;
    uint64_t used_bytes = 0;
  };
  struct Device {
    uint64_t used_bytes = 0;
    uint64_t next_pointer = 0;
    std::map<ProcessId, Residence> residents;
    std::map<uint64_t, ProcessId> order;
  };

  void take(Device& device, ProcessId process, uint64_t bytes);
  void give_back(Device& device, ProcessId process, uint64_t bytes);
  void drop_context(ProcessId id, Process& process, uint64_t context);

  DeviceSizes sizes_;
  std::vector<Device> devices_;
  std::map<ProcessId, Process> processes_;
  uint64_t next_name_ = 1;
  int initialised_processes_ = 0;
  int contexts_ = 0;
};

}  // namespace rollcall::simgpu
