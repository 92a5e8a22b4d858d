// Under which number does one process see another? Each process has a name in
// every PID namespace from the daemon's down to its own, and no name elsewhere.
// Pure: what the kernel says is read in peer.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"

namespace rollcall::simgpu {

// A process's names: its PID in each namespace, the daemon's first, its own last.
struct NamespaceName {
  uint64_t inode = 0;  // of the PID namespace
  pid_t pid = 0;       // of the process there
};
using NameChain = std::vector<NamespaceName>;

// `target` as `caller` sees it: under its PID in the caller's own namespace, or
// not at all if it lies outside that namespace and those below it.
std::optional<pid_t> translated_pid(const NameChain& target, const NameChain& caller);

// The same by the node's view: global means the daemon's numbering for everybody.
std::optional<pid_t> visible_pid(evidence::NvmlView view, const NameChain& target, const NameChain& caller);

// "global" or "translated", as an option of simgpud has it.
std::string_view view_text(evidence::NvmlView view);
base::Result<evidence::NvmlView> parse_view(std::string_view text);

}  // namespace rollcall::simgpu
