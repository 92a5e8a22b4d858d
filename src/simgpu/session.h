// A simulated node for as long as somebody needs it: starts simgpud in a
// private folder, waits until it serves, says which environment makes a process
// see that node, and ends it and removes its folder again. Used by the launcher
// (one node for each run, so that no run inherits another's state) and by
// `rollcall sim exec`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "simgpu/profile.h"

namespace rollcall::simgpu {

// A node whose driver finds no device, whatever the profile says.
inline constexpr int kNoGpus = -1;

struct SessionOptions {
  std::filesystem::path simgpud;       // the program
  std::filesystem::path library_dir;   // holds the stand-in libcuda.so.1 and libnvidia-ml.so.1
  std::filesystem::path profile_file;  // handed to simgpud; already known to be valid
  evidence::NvmlView view = evidence::NvmlView::kGlobal;
  double time_scale = 1.0;  // every service time is multiplied by it
  int gpus = 0;             // 0: as many as the profile says; kNoGpus: none
  uint64_t seed = 0;        // for the jitter of service times
  int max_clients = 0;      // processes; 0: default; raises the daemon's descriptor limit to fit
};

// Descriptors that simgpud needs for that many client processes: two connections
// (driver and NVML) and a pidfd for each, and some for itself.
inline constexpr uint64_t needed_descriptors(int max_clients) {
  return static_cast<uint64_t>(max_clients) * 3 + 128;
}

class Session {
 public:
  // Ready to serve when it returns. A wrong path, a refused start and a start
  // that takes longer than ten seconds are errors that say so.
  static base::Result<Session> start(const SessionOptions& options);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();  // stop()

  // Variables for a process that is to see this node: LD_LIBRARY_PATH (the
  // stand-ins' folder, before what `inherited_library_path` says) and
  // ROLLCALL_SIM_SOCKET.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment(
      const std::string& inherited_library_path) const;

  // Becomes readable when simgpud ends, for whatever reason.
  [[nodiscard]] int pidfd() const;
  [[nodiscard]] pid_t pid() const;

  // Ends simgpud (lifeline and SIGTERM; SIGKILL after two seconds), reaps it
  // and removes its folder. Safe to call twice.
  void stop();

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rollcall::simgpu
