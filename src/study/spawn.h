// Starting one worker: fork, the descriptors where the worker expects them, the
// parent-death signal, exec. Called from the main thread only, because the
// parent-death signal follows the thread that forked.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::study {

// An environment block that lives as long as this and can be handed to exec.
class EnvironmentBlock {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  explicit EnvironmentBlock(const Variables& variables);
  EnvironmentBlock(EnvironmentBlock&&) = default;
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

struct Child {
  pid_t pid = -1;
  base::Fd pidfd;
};

// The namespaces of a process that is alive, as descriptors of its /proc/PID/ns, root and
// cwd: the way in for whoever is to be started beside it.
struct NamespaceDoor {
  base::Fd pid;
  base::Fd mount;
  base::Fd ipc;
  // A process that enters a mount namespace stands in its outermost root; these lead back
  // to where the launcher stands.
  base::Fd root;
  base::Fd folder;
};

// Namespaces of the child's own (PID, mount, IPC), in which it is PID 1 and has a /proc of
// its own.
struct NewNamespaces {
  const char* read_only_folder = nullptr;  // is so inside; null: none
};

struct SpawnRequest {
  const char* program = nullptr;
  char* const* arguments = nullptr;  // null-terminated, with argv[0]
  char* const* environment = nullptr;
  int output_fd = -1;  // becomes standard output and standard error
  // Descriptors for the child, placed from 3 on in this order.
  std::vector<int> inherited;
  int input_fd = -1;  // becomes standard input; -1: /dev/null
  int error_fd = -1;  // becomes standard error; -1: as standard output
  // At most one of these; neither: the launcher's own namespaces.
  const NamespaceDoor* enters = nullptr;
  const NewNamespaces* founds = nullptr;
};

// The child of fork and exec; an exec that fails is an error here, not an exit
// status to be guessed at later. It is a direct child also in other namespaces: its PID,
// pidfd and exit status are as the launcher's own namespace has them.
base::Result<Child> spawn(const SpawnRequest& request);

}  // namespace rollcall::study
