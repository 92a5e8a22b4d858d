// Everything that `rollcall doctor` judges by, as plain values: what rollcall-probe
// observed of the driver and what the kernel says of this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "probe/facts.h"
#include "study/limits.h"

namespace rollcall::doctor {

struct Facts {
  std::string kernel_release;             // empty: not known
  std::optional<uint64_t> pid_namespace;  // inode
  std::optional<bool> proc_is_own;        // /proc is of this PID namespace
  bool virtual_machine = false;           // the CPU says that a hypervisor runs it
  bool simulated_node = false;            // the environment leads to one

  base::Result<probe::NodeFacts> node;
  base::Result<probe::ViewFacts> view;
  std::string mps_pipe_directory;  // CUDA_MPS_PIPE_DIRECTORY; empty if it is not set

  int workers = 0;  // how many are wanted
  study::ProcessLimits limits;
  std::optional<uint64_t> memory_total_bytes;
  std::optional<uint64_t> memory_available_bytes;

  std::string shim;  // the preload library that was named; empty if none was
  std::optional<base::Result<void>> shim_loads;
};

struct Question {
  std::filesystem::path probe;   // bin/rollcall-probe
  std::filesystem::path worker;  // bin/rollcall-worker, which the shim is loaded into
  std::string shim;
  int workers = 0;
};

// Asks the kernel, and the driver through rollcall-probe. Takes seconds on a GPU.
Facts gather(const Question& question);

}  // namespace rollcall::doctor
