// The broker of a run: hostpidd, started before the first worker and ended after the last,
// in a folder of its own, so that no run can hear an answer of another one's.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "study/paths.h"
#include "study/plan.h"
#include "study/spawn.h"

namespace rollcall::study {

// Whether a run of this arm has one: where the plan says so; and for `tiered` on a simulated
// node also where the launcher is not in the initial PID namespace. Its workers are as good
// as on the host of that node, but the kernel could not tell them so.
bool needs_broker(const Plan& plan, const Arm& arm);
// Whether any run of the plan has one.
bool needs_broker(const Plan& plan);

struct BrokerOptions {
  std::filesystem::path program;
  std::filesystem::path scratch;  // of the run: the folder is made there, if its path is short enough
  evidence::NvmlView view = evidence::NvmlView::kUnknown;
  // The PIDs that the launcher sees are the node's, whatever namespace it is in.
  bool namespace_is_host = false;
  std::filesystem::path log;  // a new file for what it says
};

class Broker {
 public:
  // Serves when it returns; an error with what it said if it does not within ten seconds.
  static base::Result<Broker> start(const BrokerOptions& options, const EnvironmentBlock& environment);
  Broker(Broker&&) = default;
  ~Broker();  // stop()

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path socket() const;

  // Ends it and removes its folder. An error if it had ended by itself. Safe to call twice.
  base::Result<void> stop();

 private:
  Broker(Child child, std::filesystem::path folder) : child_(std::move(child)), folder_(std::move(folder)) {}

  Child child_;
  std::filesystem::path folder_;
};

}  // namespace rollcall::study
