// A whole experiment: the plan frozen, every planned run executed and committed,
// the tables derived, the folder sealed. Started anew or resumed; either way the
// same code walks the same schedule and skips what is already there.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"
#include "study/launcher.h"
#include "study/paths.h"
#include "study/plan.h"

namespace rollcall::study {

struct ExperimentSetup {
  const Paths* paths = nullptr;
  std::filesystem::path out;
  int interrupt_fd = -1;
  // Called with the run that is under way, its place in the order and the total.
  std::function<void(const PlannedRun&, int total, const RunProgress&)> progress;
  // Called once a run is committed, with the reasons for which it is invalid.
  std::function<void(const PlannedRun&, int total, const evidence::Run&, const std::vector<std::string>&)>
      committed;
};

struct Experiment {
  Plan plan;
  std::vector<evidence::Run> runs;
};

// A new experiment in a new folder. The machine's limits are checked first.
base::Result<Experiment> run_experiment(const ExperimentSetup& setup, const Plan& plan);

// Goes on with an interrupted one, by its own frozen plan. Finished runs are left
// untouched; a finished experiment is read back as it is.
base::Result<Experiment> resume_experiment(const ExperimentSetup& setup);

}  // namespace rollcall::study
