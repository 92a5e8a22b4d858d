// See experiment.h.
#include "study/experiment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/tables.h"
#include "analysis/validity.h"
#include "base/files.h"
#include "evidence/folder.h"
#include "evidence/sha256.h"
#include "study/arms.h"
#include "study/broker.h"
#include "study/environment.h"
#include "study/limits.h"
#include "study/namespaces.h"
#include "study/real_node.h"
#include "study/schedule.h"
#include "study/shim_file.h"
#include "study/shim_trial.h"

namespace rollcall::study {
namespace {

constexpr size_t kMaxPlanBytes = 4 << 20;

// All that is read of a worker is read from /proc under its PID; in the /proc of another
// PID namespace that would be somebody else.
base::Result<void> check_proc() {
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self", error);
  if (!error && self == std::to_string(getpid())) return {};
  return base::failure("/proc",
                       fmt::format("is not that of this PID namespace: it calls this process {}, not {}",
                                   error ? "nothing" : self, getpid()),
                       "mount it anew there, for example with unshare --mount-proc");
}

// What every run of the plan needs beside the program itself.
base::Result<void> check_files(const Paths& paths, const Plan& plan) {
  std::vector<std::pair<std::filesystem::path, const char*>> files = {
      {paths.worker, "the worker"}, {paths.probe, "the probe"}, {paths.shim, "the shim"}};
  if (plan.node == evidence::NodeKind::kSimulated) {
    files.emplace_back(paths.simgpud, "the simulated node");
    files.emplace_back(paths.sim_dir / "libcuda.so.1", "the stand-in driver");
    files.emplace_back(paths.sim_dir / "libnvidia-ml.so.1", "the stand-in NVML");
  }
  if (plan.isolation == evidence::Isolation::kPid) {
    files.emplace_back(paths.namespace_holder, "the first process of a namespace");
  }
  if (needs_broker(plan)) files.emplace_back(paths.hostpidd, "the broker");
  for (const auto& [file, what] : files) {
    if (auto there = require_file(file, what); !there) return there;
  }
  for (const Arm& arm : plan.shims) {
    const auto file = inspect_shim(arm.preload, fmt::format("the shim '{}'", arm.name));
    if (!file) return tl::unexpected(file.error());
    if (file->path != arm.preload || file->sha256 != arm.preload_sha256) {
      return base::usage_error(arm.preload, "is not the library that this experiment began with",
                               "put the original back, or start a new experiment with another --out");
    }
  }
  return {};
}

base::Result<void> check_machine(const Paths& paths, const Plan& plan) {
  if (auto ours = check_proc(); !ours) return ours;
  if (auto there = check_files(paths, plan); !there) return there;
  // The loader takes these as separators in LD_PRELOAD, with no way to quote them.
  if (paths.shim.string().find_first_of(" :\t\n") != std::string::npos) {
    return base::failure(paths.shim.string(), "a path with a blank or a colon cannot be preloaded",
                         "move the programs to a folder without them");
  }
  int workers = 0;
  int caches = 0;
  for (const evidence::Topology& topology : plan.topologies) {
    workers = std::max(workers, topology.workers());
    caches = std::max(caches, topology.caches());
  }
  const bool isolated = plan.isolation == evidence::Isolation::kPid;
  const RunSize size{workers, caches, isolated ? caches : 0};
  if (auto fits = check_limits(read_process_limits(), size); !fits) return fits;
  if (auto raised = raise_open_files(needed_descriptors(size)); !raised) return raised;
  if (isolated) return prepare_isolation(paths);
  return {};
}

// What all runs of an experiment share beside its plan.
struct Companions {
  const RealNode* real;
  const ProgramStamps* stamps;
};

base::Result<evidence::Run> execute_planned(const ExperimentSetup& setup, const Plan& plan,
                                            const std::string& plan_sha256, const Companions& companions,
                                            const PlannedRun& planned, int total,
                                            evidence::FolderWriter& folder) {
  const auto arm = find_arm(planned.arm, plan.shims, "plan.json");
  if (!arm) return tl::unexpected(arm.error());
  const auto working = folder.begin_run(planned.id());
  if (!working) return tl::unexpected(working.error());
  RunSetup run;
  run.plan = &plan;
  run.paths = setup.paths;
  run.run = planned;
  run.arm = *arm;
  run.plan_sha256 = plan_sha256;
  run.real = companions.real;
  run.stamps = companions.stamps;
  run.working = *working;
  run.interrupt_fd = setup.interrupt_fd;
  if (setup.progress) {
    run.progress = [&](const RunProgress& progress) { setup.progress(planned, total, progress); };
  }
  auto result = execute_run(run);
  if (!result) return result;
  if (auto committed = folder.commit_run(*working, *result); !committed)
    return tl::unexpected(committed.error());
  return result;
}

base::Result<void> execute_schedule(const ExperimentSetup& setup, const Plan& plan,
                                    const std::string& plan_sha256, const Companions& companions,
                                    evidence::FolderWriter& folder) {
  const std::vector<PlannedRun> schedule = make_schedule(plan);
  const int total = static_cast<int>(schedule.size());
  for (const PlannedRun& planned : schedule) {
    if (folder.has_run(planned.id())) continue;
    const auto run = execute_planned(setup, plan, plan_sha256, companions, planned, total, folder);
    if (!run) return tl::unexpected(run.error());
    if (setup.committed) setup.committed(planned, total, *run, analysis::invalid_reasons(*run));
  }
  return {};
}

// Every run is one of the plan's, and all of the plan's are there.
base::Result<void> check_planned(const std::vector<evidence::Run>& runs, const Plan& plan,
                                 const std::filesystem::path& folder) {
  std::set<std::string> expected;
  for (const PlannedRun& planned : make_schedule(plan)) expected.insert(planned.id());
  for (const evidence::Run& run : runs) {
    if (expected.erase(run.record.id()) == 1) continue;
    return base::usage_error((folder / "runs" / run.record.id()).string(), "is not a run of this plan",
                             "take it out of the folder");
  }
  if (!expected.empty()) return base::failure((folder / "runs" / *expected.begin()).string(), "is missing");
  return {};
}

// Reads everything back from the disk, so that the tables are made from the
// evidence and from nothing else.
base::Result<Experiment> derive(const Plan& plan, evidence::FolderWriter& folder) {
  auto runs = evidence::read_runs(folder.path());
  if (!runs) return tl::unexpected(runs.error());
  if (auto planned = check_planned(*runs, plan, folder.path()); !planned)
    return tl::unexpected(planned.error());
  for (const analysis::DerivedFile& file : analysis::derive_all(*runs)) {
    const std::filesystem::path relative = std::filesystem::path("derived") / file.name;
    std::error_code ignored;
    // An interruption between here and the seal left complete files: the same ones.
    if (std::filesystem::exists(folder.path() / relative, ignored)) {
      const auto there = base::read_file(folder.path() / relative, file.content.size() + 1);
      if (there && *there == file.content) continue;
    }
    if (auto written = folder.write(relative, file.content); !written) return tl::unexpected(written.error());
  }
  if (auto sealed = folder.finish(); !sealed) return tl::unexpected(sealed.error());
  return Experiment{plan, std::move(*runs)};
}

base::Result<Experiment> conduct(const ExperimentSetup& setup, const Plan& plan,
                                 const std::string& plan_sha256, const Companions& companions,
                                 evidence::FolderWriter& folder) {
  if (auto done = execute_schedule(setup, plan, plan_sha256, companions, folder); !done)
    return tl::unexpected(done.error());
  return derive(plan, folder);
}

// A resumed part may run on another kernel or after a rebuild: each has its own record.
base::Result<void> write_environment(const ExperimentSetup& setup, const Plan& plan,
                                     const std::string& plan_sha256,
                                     const std::optional<NodeObservation>& observed,
                                     evidence::FolderWriter& folder) {
  const auto environment = describe_environment(*setup.paths, plan, plan_sha256, observed);
  if (!environment) return tl::unexpected(environment.error());
  std::error_code ignored;
  std::filesystem::path name = "environment.json";
  for (int n = 1; std::filesystem::exists(folder.path() / name, ignored); ++n) {
    name = fmt::format("environment-resumed-{}.json", n);
  }
  return folder.write(name, *environment);
}

// The plan must be the one that the experiment began with: what was run by another
// plan cannot be gone on with.
base::Result<void> check_plan_unchanged(const std::filesystem::path& out, const std::string& plan_sha256) {
  const std::filesystem::path file = out / "environment.json";
  std::error_code ignored;
  // Interrupted before anything was run: there is nothing yet that must fit the plan.
  if (!std::filesystem::exists(file, ignored) && std::filesystem::is_empty(out / "runs", ignored)) return {};
  const auto text = base::read_file(file, kMaxPlanBytes);
  if (!text) return tl::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("plan_sha256")) {
    return base::usage_error(file.string(), "expected the SHA-256 of plan.json, found none");
  }
  if (json["plan_sha256"] == plan_sha256) return {};
  return base::usage_error((out / "plan.json").string(), "is not the plan that this experiment began with",
                           "put the original back, or start a new experiment with another --out");
}

// A real node is asked what it is; a simulated one is what the plan says.
base::Result<std::optional<NodeObservation>> observe(const ExperimentSetup& setup, const Plan& plan) {
  if (plan.node == evidence::NodeKind::kSimulated) return std::nullopt;
  auto observed = observe_real_node(*setup.paths, plan);
  if (!observed) return tl::unexpected(observed.error());
  return std::move(*observed);
}

const RealNode* real_of(const std::optional<NodeObservation>& observed) {
  return observed ? &observed->node : nullptr;
}

// One mean over two drivers would be of neither.
base::Result<void> check_same_driver(const std::filesystem::path& out, const RealNode& now) {
  const std::filesystem::path file = out / "environment.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};  // interrupted before anything was run
  const auto text = base::read_file(file, kMaxPlanBytes);
  if (!text) return tl::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const nlohmann::json::json_pointer place("/driver/node/driver_version");
  if (!json.is_object() || !json.contains(place) || !json[place].is_string()) {
    return base::usage_error(file.string(), "expected the version of the driver, found none");
  }
  const auto version = json[place].get<std::string>();
  if (version == now.driver_version) return {};
  return base::usage_error(
      file.string(),
      fmt::format("this experiment began with driver {}, found {}", version, now.driver_version),
      "start a new experiment with another --out");
}

}  // namespace

base::Result<Experiment> run_experiment(const ExperimentSetup& setup, const Plan& asked) {
  Plan plan = asked;
  if (auto fits = check_machine(*setup.paths, plan); !fits) return tl::unexpected(fits.error());
  if (auto free = evidence::FolderWriter::check_new(setup.out); !free) return tl::unexpected(free.error());
  const ProgramStamps stamps(*setup.paths, plan);
  const auto observed = observe(setup, plan);
  if (!observed) return tl::unexpected(observed.error());
  if (auto usable = try_shims(*setup.paths, plan, real_of(*observed), setup.interrupt_fd); !usable) {
    return tl::unexpected(usable.error());
  }
  auto folder = evidence::FolderWriter::create(setup.out);
  if (!folder) return tl::unexpected(folder.error());
  const std::string text = print_plan(plan);
  const auto hash = evidence::sha256_hex(text);
  if (!hash) return tl::unexpected(hash.error());
  auto step = folder->write("plan.json", text);
  if (step) step = write_environment(setup, plan, *hash, *observed, *folder);
  if (!step) return tl::unexpected(step.error());
  return conduct(setup, plan, *hash, {real_of(*observed), &stamps}, *folder);
}

base::Result<Experiment> resume_experiment(const ExperimentSetup& setup) {
  auto folder = evidence::FolderWriter::resume(setup.out);
  if (!folder) return tl::unexpected(folder.error());
  const std::filesystem::path plan_file = setup.out / "plan.json";
  const auto text = base::read_file(plan_file, kMaxPlanBytes);
  if (!text) return tl::unexpected(text.error());
  const auto hash = evidence::sha256_hex(*text);
  if (!hash) return tl::unexpected(hash.error());
  if (auto unchanged = check_plan_unchanged(setup.out, *hash); !unchanged)
    return tl::unexpected(unchanged.error());
  const auto plan = parse_plan(*text, plan_file.string());
  if (!plan) return tl::unexpected(plan.error());
  if (folder->finished()) {
    const auto seal = evidence::check_seal(setup.out);
    if (!seal) return tl::unexpected(seal.error());
    if (seal->state != evidence::SealState::kIntact) {
      return tl::unexpected(base::Error{base::ErrorKind::kDifference, (setup.out / "SHA256SUMS").string(),
                                        "does not agree with the folder: " + seal->difference,
                                        "this is not the evidence that was recorded"});
    }
    auto runs = evidence::read_runs(setup.out);
    if (!runs) return tl::unexpected(runs.error());
    return Experiment{*plan, std::move(*runs)};
  }
  if (auto fits = check_machine(*setup.paths, *plan); !fits) return tl::unexpected(fits.error());
  const ProgramStamps stamps(*setup.paths, *plan);
  const auto observed = observe(setup, *plan);
  if (!observed) return tl::unexpected(observed.error());
  if (*observed) {
    if (auto same = check_same_driver(setup.out, (*observed)->node); !same)
      return tl::unexpected(same.error());
  }
  if (auto written = write_environment(setup, *plan, *hash, *observed, *folder); !written) {
    return tl::unexpected(written.error());
  }
  return conduct(setup, *plan, *hash, {real_of(*observed), &stamps}, *folder);
}

}  // namespace rollcall::study
