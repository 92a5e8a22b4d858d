// The namespaces of one run under `--isolate pid`: a PID, mount and IPC namespace for each
// cache, as the containers of so many tenants would have them. They are made before the
// first worker, and gone after the last.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "study/paths.h"
#include "study/spawn.h"

namespace rollcall::study {

// What a run's namespaces looked like when they were ended.
struct NamespacesEnded {
  int processes_left = 0;         // outlived the workers in them, and were ended with them
  std::vector<std::string> died;  // what happened to those that ended by themselves
};

class Namespaces {
 public:
  // `read_only_folder` (empty: none) cannot be written to inside.
  static base::Result<Namespaces> start(const Paths& paths, int count,
                                        const std::filesystem::path& read_only_folder);
  Namespaces(Namespaces&&) = default;
  ~Namespaces();  // stop()

  [[nodiscard]] const NamespaceDoor& door(int i) const { return doors_[static_cast<size_t>(i)]; }

  // Ends them all, and whoever is left in them; to be called when their workers are
  // reaped, for a namespace does not end before. Waits for ten seconds at most. Safe to
  // call twice.
  NamespacesEnded stop();

 private:
  Namespaces() = default;
  base::Fd lifeline_;  // the end of all of them
  std::vector<Child> first_;
  std::vector<NamespaceDoor> doors_;
};

// Whether namespaces can be made here, found out by making one. Where this process may
// not, but may have a user namespace, it has one of its own from then on, in which it is
// the user that it is and may. Else an error that says what is needed.
base::Result<void> prepare_isolation(const Paths& paths);

}  // namespace rollcall::study
