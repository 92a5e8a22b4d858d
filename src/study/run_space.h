// What a run needs around its workers: cache paths, logs, the simulated node and
// the environment that leads a worker to them. Made before the first worker,
// taken down after the last.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "simgpu/session.h"
#include "study/launcher.h"
#include "study/spawn.h"

namespace rollcall::study {

class RunSpace {
 public:
  // Events (a cache that existed before its run) are added to `record`.
  static base::Result<RunSpace> create(const RunSetup& setup, evidence::RunRecord& record);
  RunSpace(RunSpace&&) = default;

  [[nodiscard]] const std::vector<std::filesystem::path>& caches() const { return caches_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& log_files() const { return log_files_; }
  [[nodiscard]] const EnvironmentBlock& environment(int cache) const;
  [[nodiscard]] int log_fd(int cache) const { return logs_[static_cast<size_t>(cache)].get(); }
  // Readable when the simulated node ended.
  [[nodiscard]] int node_pidfd() const { return session_->pidfd(); }

  // Ends the node, keeps a compressed copy of every region and removes the
  // working files.
  base::Result<void> close();

 private:
  RunSpace() = default;
  std::filesystem::path working_;
  std::vector<std::filesystem::path> caches_;
  std::vector<std::filesystem::path> log_files_;
  std::vector<base::Fd> logs_;
  std::vector<EnvironmentBlock> environments_;  // one for each cache, or one for all
  std::optional<simgpu::Session> session_;
};

}  // namespace rollcall::study
