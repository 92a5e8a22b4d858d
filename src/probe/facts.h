// What is observed of a node's driver, as plain values. rollcall-probe observes
// it (only that program touches the driver: the launcher never does) and prints
// it as JSON; observe.h reads it back. "Not known" is always distinct from 0, and
// every "not known" has a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::probe {

// A process that NVML lists as computing on a device.
struct ListedProcess {
  int device = 0;                        // NVML index
  int64_t pid = 0;                       // as NVML gives it to the process that asked
  std::optional<uint64_t> memory_bytes;  // unset where the driver does not tell (value -1)
  std::string name;                      // of its executable as NVML tells it; empty if it does not

  friend bool operator==(const ListedProcess&, const ListedProcess&) = default;
};

inline std::vector<int64_t> pids_of(const std::vector<ListedProcess>& processes) {
  std::vector<int64_t> pids;
  for (const ListedProcess& process : processes) pids.push_back(process.pid);
  return pids;
}

struct DeviceFacts {
  int nvml_index = 0;
  std::string uuid;  // "GPU-…"
  std::string name;
  std::optional<uint64_t> memory_total_bytes;
  std::optional<uint64_t> memory_free_bytes;
  std::optional<bool> persistence_mode;
  std::optional<bool> mig_enabled;
  std::optional<int>
      compute_mode;  // nvmlComputeMode_t: 0 default, 1 exclusive thread, 2 prohibited, 3 exclusive process

  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};

struct NodeFacts {
  // The CUDA side: cuInit's result and the devices it shows.
  std::string cuda_error;  // why there is no usable CUDA driver; empty if there is one with a device
  std::optional<int> cuinit_result;
  std::optional<int> cuda_version;      // 13000 for 13.0
  std::string driver_library;           // the file that dlopen("libcuda.so.1") mapped; empty if none
  std::vector<std::string> cuda_uuids;  // in the order of CUDA's ordinals, in NVML's spelling ("GPU-…")
  // The NVML side.
  std::string nvml_error;  // why NVML cannot be asked; empty if it can
  std::string driver_version;
  std::vector<DeviceFacts> devices;      // in NVML's order
  std::vector<ListedProcess> processes;  // on all devices
  std::string processes_error;           // why they could not be listed; empty if they could
  // Stride in bytes of the entries that each version of the process list really
  // writes, seen by a sentinel; unset: that version is missing, refused, or nobody was listed.
  std::optional<int> stride_v1, stride_v2, stride_v3;

  // A device that CUDA can use.
  [[nodiscard]] bool usable() const { return cuda_error.empty(); }

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// How NVML numbers processes, measured with a child that holds a context.
enum class ViewKind { kUnknown, kGlobal, kTranslated, kThreadIds };

struct ViewFacts {
  ViewKind view = ViewKind::kUnknown;
  std::string reason;  // for kUnknown: why it could not be told
  // What was seen, so that the conclusion can be checked.
  std::optional<int64_t> child_host_pid;  // the child's PID in the caller's namespace
  std::optional<int64_t> child_own_pid;   // in its own
  std::vector<int64_t> child_thread_ids;  // in the caller's namespace
  std::optional<bool> own_namespace;      // whether the child could be given a PID namespace
  std::vector<int64_t> new_inside;        // PIDs that came onto the child's own list with its context
  std::vector<int64_t> new_outside;       // the same, on the list of the child's parent
  std::optional<uint64_t> memory_bytes;   // of the child, as its entry says; unset: not told (-1) or no entry
  // What the child with its context takes of the host's memory for itself: its resident
  // memory less the pages of files, which all workers share. Unset: not read.
  std::optional<uint64_t> host_memory_bytes;
  // As in NodeFacts, measured while the child was listed.
  std::optional<int> stride_v1, stride_v2, stride_v3;
  // Whether a process in the caller's own namespace is listed to itself under its
  // getpid(). False: the caller's PID namespace is not the one that NVML numbers by.
  std::optional<bool> caller_is_listed_as_itself;

  [[nodiscard]] evidence::NvmlView evidence_view() const {
    switch (view) {
      case ViewKind::kGlobal:
        return evidence::NvmlView::kGlobal;
      case ViewKind::kTranslated:
        return evidence::NvmlView::kTranslated;
      case ViewKind::kUnknown:
      case ViewKind::kThreadIds:
        break;
    }
    return evidence::NvmlView::kUnknown;
  }

  friend bool operator==(const ViewFacts&, const ViewFacts&) = default;
};

}  // namespace rollcall::probe
