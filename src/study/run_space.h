// What a run needs around its workers: cache paths, logs, the simulated node and
// the environment that leads a worker to them. Made before the first worker,
// taken down after the last.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "simgpu/session.h"
#include "study/broker.h"
#include "study/launcher.h"
#include "study/spawn.h"

namespace rollcall::study {

// The file that is preloaded for an arm with a shim.
std::filesystem::path shim_of(const Arm& arm, const Paths& paths);

// Changes to an environment (a name with an empty value is removed) that make it what a
// worker of an arm without a shim gets: so that the driver is asked as it will be used.
std::vector<std::pair<std::string, std::string>> without_withheld();

class RunSpace {
 public:
  // Events (a cache that existed before its run) are added to `record`.
  static base::Result<RunSpace> create(const RunSetup& setup, evidence::RunRecord& record);
  RunSpace(RunSpace&&) = default;

  [[nodiscard]] const std::vector<std::filesystem::path>& caches() const { return caches_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& log_files() const { return log_files_; }
  [[nodiscard]] const EnvironmentBlock& environment(int cache) const;
  [[nodiscard]] int log_fd(int cache) const { return logs_[static_cast<size_t>(cache)].get(); }
  // Readable when the simulated node ended; -1 on a real node.
  [[nodiscard]] int node_pidfd() const { return session_ ? session_->pidfd() : -1; }
  // The value of kRunVariable in the environment of every process of this run.
  [[nodiscard]] const std::string& mark() const { return mark_; }
  [[nodiscard]] pid_t node_pid() const { return session_ ? session_->pid() : -1; }
  // Of the broker's socket; empty: this run has none.
  [[nodiscard]] std::filesystem::path broker_folder() const {
    return broker_ ? broker_->folder() : std::filesystem::path();
  }
  // What leads a process without a shim to the same node and devices.
  [[nodiscard]] const EnvironmentBlock& plain_environment() const { return *plain_environment_; }

  // Ends the node and the broker, keeps a compressed copy of every region and removes the
  // working files. A cache that cannot be kept becomes an event of `record`, and so does a
  // broker that had ended by itself.
  base::Result<void> close(evidence::RunRecord& record);

 private:
  RunSpace() = default;
  void check_log(size_t cache, evidence::RunRecord& record);
  std::filesystem::path working_;
  std::filesystem::path scratch_;
  std::string mark_;
  std::vector<std::filesystem::path> caches_;
  std::vector<std::filesystem::path> log_files_;
  std::vector<base::Fd> logs_;
  std::vector<EnvironmentBlock> environments_;  // one for each cache, or one for all
  std::optional<EnvironmentBlock> plain_environment_;
  std::optional<simgpu::Session> session_;  // none on a real node
  std::optional<Broker> broker_;
};

}  // namespace rollcall::study
