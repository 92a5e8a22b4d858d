// The trial is a run like any other, 1x1, in a temporary folder: the same worker, the
// same environment, the same way of looking at it.
#include "study/shim_trial.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "base/files.h"
#include "evidence/compress.h"
#include "evidence/topology.h"
#include "study/identity_source.h"

namespace rollcall::study {
namespace {

// A shim that hangs must not cost the user a run's deadline before the first run.
constexpr double kTrialTimeoutS = 30;
constexpr size_t kMaxLogBytes = 1 << 20;
constexpr size_t kMaxRegionBytes = 64 << 20;
// glibc's exit status where the loader gives up.
constexpr int kLoaderFailed = 127;

// A folder that goes when this does.
class TrialFolder {
 public:
  static base::Result<TrialFolder> create() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    if (error) base = "/tmp";
    std::string text = (base / "rollcall-trial-XXXXXX").string();
    if (mkdtemp(text.data()) == nullptr) return base::system_failure(text, "make a temporary folder", errno);
    TrialFolder folder(text);
    if (auto made = base::make_new_directory(folder.run()); !made) return tl::unexpected(made.error());
    for (const char* name : {"logs", "regions"}) {
      if (auto made = base::make_new_directory(folder.run() / name); !made)
        return tl::unexpected(made.error());
    }
    return folder;
  }
  TrialFolder(TrialFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~TrialFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path run() const { return path_ / "run"; }

 private:
  explicit TrialFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// The loader's own complaint, without the name of the program; empty if there is none.
std::string loader_complaint(const std::string& log) {
  for (const char* mark :
       {"symbol lookup error: ", "ERROR: ld.so: ", "error while loading shared libraries: "}) {
    const size_t at = log.find(mark);
    if (at == std::string::npos) continue;
    const size_t begin = at + strlen(mark);
    return log.substr(begin, log.find('\n', begin) - begin);
  }
  return {};
}

std::string how_it_ended(const evidence::WorkerRecord& worker) {
  if (worker.exit_signal) {
    const char* name = sigabbrev_np(*worker.exit_signal);
    return fmt::format("ended by {}", name != nullptr ? fmt::format("SIG{}", name)
                                                      : fmt::format("signal {}", *worker.exit_signal));
  }
  if (worker.exit_code) return fmt::format("exit status {}", *worker.exit_code);
  return "no exit status";
}

struct Trial {
  TrialOutcome outcome;
  DetectedSource source;
};

base::Result<Trial> try_shim(const Paths& paths, const Plan& plan, const Arm& arm, const RealNode* real,
                             int interrupt_fd) {
  auto folder = TrialFolder::create();
  if (!folder) return tl::unexpected(folder.error());
  Plan small = plan;
  small.workload = evidence::Workload::kInit;
  small.worker_timeout_s = std::min(plan.worker_timeout_s, kTrialTimeoutS);
  small.run_timeout_s = std::min(plan.run_timeout_s, 2 * kTrialTimeoutS);
  RunSetup setup;
  setup.plan = &small;
  setup.paths = &paths;
  setup.run = {1, *evidence::Topology::parse("1x1"), arm.name, 1};
  setup.arm = arm;
  setup.arm.identity = IdentitySourceKind::kNone;
  setup.working = folder->run();
  setup.real = real;
  setup.trial = true;
  setup.interrupt_fd = interrupt_fd;
  auto run = execute_run(setup);
  if (!run) return tl::unexpected(run.error());
  Trial trial;
  trial.outcome.worker = run->workers.front();
  if (auto log = base::read_file(folder->run() / "logs" / "cache_0.log", kMaxLogBytes))
    trial.outcome.log = *log;
  const std::filesystem::path region = folder->path() / "region";
  const std::filesystem::path kept = folder->run() / "regions" / "cache_0.region.zst";
  if (const auto frame = base::read_file(kept, kMaxRegionBytes)) {
    const auto content = evidence::decompress(*frame, kMaxRegionBytes, kept.string());
    if (content) (void)base::write_new_file(region, *content);
  }
  trial.source = detect_identity_source(region);
  return trial;
}

base::Result<void> take_identity(const Trial& trial, Arm& arm) {
  if (arm.identity != IdentitySourceKind::kAuto) return {};
  arm.identity = trial.source.kind;
  if (arm.identity != IdentitySourceKind::kNone) return {};
  const bool finished = trial.outcome.worker.fate == evidence::Fate::kFinished;
  const std::string why =
      finished ? fmt::format("its cache file ({}): {}", arm.cache_variable, trial.source.why)
               : fmt::format("its trial worker did not finish ({})", how_it_ended(trial.outcome.worker));
  return base::usage_error(
      fmt::format("the shim '{}'", arm.name),
      fmt::format("cannot tell how to read what it discovers: {}", why),
      "say identity in an [arm.NAME] of a plan: \"log\" with log_assigned, or \"none\" for timing alone");
}

}  // namespace

base::Result<void> judge_trial(const TrialOutcome& outcome, const Arm& arm) {
  const evidence::WorkerRecord& worker = outcome.worker;
  const std::string where = fmt::format("the shim '{}' ({})", arm.name, arm.preload);
  const std::string complaint = loader_complaint(outcome.log);
  const bool died = worker.fate == evidence::Fate::kDied;
  if (died && worker.exit_code == kLoaderFailed && !complaint.empty()) {
    return base::usage_error(where, "cannot be loaded: " + complaint);
  }
  if (died && worker.stage < evidence::Stage::kReady) {
    return base::usage_error(
        where,
        fmt::format("ended its process while it was being loaded: {}{}", how_it_ended(worker),
                    complaint.empty() ? "" : "; the loader said: " + complaint),
        "its constructor must leave the process and its descriptors as they are");
  }
  if (worker.fate == evidence::Fate::kDeadline && worker.stage < evidence::Stage::kReady) {
    return base::usage_error(where, "does not come back from being loaded",
                             "its constructor must return; the process was ended");
  }
  if (worker.shim_loaded == false) {
    return base::usage_error(
        where, fmt::format("was not taken by the loader{}", complaint.empty() ? "" : ": " + complaint));
  }
  return {};
}

base::Result<void> try_shims(const Paths& paths, Plan& plan, const RealNode* real, int interrupt_fd) {
  for (Arm& arm : plan.shims) {
    const auto trial = try_shim(paths, plan, arm, real, interrupt_fd);
    if (!trial) return tl::unexpected(trial.error());
    if (auto usable = judge_trial(trial->outcome, arm); !usable) return usable;
    if (auto known = take_identity(*trial, arm); !known) return known;
  }
  return {};
}

}  // namespace rollcall::study
