// What the launcher costs: the time from the first fork until N workers stand at
// the start gate, in ratio to the least that starting N processes can cost, which
// is fork + exec of rollcall-worker itself returning at once from main. Both in
// turn, in one run, so that the ratio holds whatever the machine is doing.
//
//   build/bench/bin/launcher_floor [WORKERS [ROUNDS]]     (default 500, 11)
//
// Also prints the gate skew: from the first worker that left the gate to the last.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "evidence/records.h"
#include "study/arms.h"
#include "study/launcher.h"
#include "study/limits.h"
#include "study/paths.h"
#include "study/plan.h"

namespace {

using namespace rollcall;

struct Summary {
  double least, median, most;
};

Summary summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

double to_ms(int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerMs);
}

// fork + exec of a program that returns at once, `workers` times, until the last is gone.
double floor_ms(const std::string& worker, int workers) {
  const int64_t start_ns = base::monotonic_ns();
  std::vector<pid_t> children;
  for (int i = 0; i < workers; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      execl(worker.c_str(), "rollcall-worker", "return-at-once", nullptr);
      _exit(127);
    }
    if (pid > 0) children.push_back(pid);
  }
  bool good = static_cast<int>(children.size()) == workers;
  for (const pid_t pid : children) {
    int status = 0;
    good = waitpid(pid, &status, 0) == pid && status == 0 && good;
  }
  if (!good) {
    fmt::print(stderr, "launcher_floor: the floor's processes did not all start and return 0\n");
    exit(1);
  }
  return to_ms(base::monotonic_ns() - start_ns);
}

template <typename T>
T value_or_exit(base::Result<T> result) {
  if (!result) {
    fmt::print(stderr, "launcher_floor: {}\n", result.error().line());
    exit(1);
  }
  return std::move(*result);
}

struct Launch {
  double to_gate_ms;
  double skew_ms;
};

Launch launch(const study::Paths& paths, const study::Plan& plan, const std::filesystem::path& working) {
  std::filesystem::create_directories(working / "logs");
  std::filesystem::create_directories(working / "regions");
  study::RunSetup setup;
  setup.plan = &plan;
  setup.paths = &paths;
  setup.run = {1, plan.topologies.front(), "native", 1};
  setup.arm = value_or_exit(study::find_arm("native", {}, "bench"));
  setup.working = working;
  const evidence::Run run = value_or_exit(study::execute_run(setup));
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const evidence::WorkerRecord& worker : run.workers) {
    if (!worker.released_ns || worker.fate != evidence::Fate::kFinished) {
      fmt::print(stderr, "launcher_floor: a worker did not come through the gate\n");
      exit(1);
    }
    first = std::min(first, *worker.released_ns);
    last = std::max(last, *worker.released_ns);
  }
  return {to_ms(run.record.gate_opened_ns.value_or(0)), to_ms(last - first)};
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? atoi(argv[1]) : 500;
  const int rounds = argc > 2 ? atoi(argv[2]) : 11;
  if (workers < 1 || workers > evidence::kMaxWorkers || rounds < 1 || rounds > 1000) {
    fmt::print(stderr, "usage: launcher_floor [WORKERS (1 to {}) [ROUNDS (1 to 1000)]]\n",
               evidence::kMaxWorkers);
    return 2;
  }
  const study::Paths paths = value_or_exit(study::find_paths());
  study::PlanRequest request;
  request.topologies = {fmt::format("1x{}", workers)};
  request.arms = {"native"};
  request.profile = "instant";
  const study::Plan plan = value_or_exit(study::resolve_plan(request, paths.profile_dir));
  if (auto raised = study::raise_open_files(study::needed_descriptors({workers, 1})); !raised) {
    fmt::print(stderr, "launcher_floor: {}\n", raised.error().line());
    return 1;
  }
  char folder[] = "/tmp/rollcall-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;

  std::vector<double> floors, launches, ratios, skews;
  for (int round = 0; round <= rounds; ++round) {  // the first warms up and does not count
    const double floor = floor_ms(paths.worker, workers);
    const Launch launched = launch(paths, plan, std::filesystem::path(folder) / std::to_string(round));
    if (round == 0) continue;
    floors.push_back(floor);
    launches.push_back(launched.to_gate_ms);
    ratios.push_back(launched.to_gate_ms / floor);
    skews.push_back(launched.skew_ms);
  }
  std::filesystem::remove_all(folder);

  fmt::print("{} workers, {} rounds                  least    median      most\n", workers, rounds);
  const auto row = [](const char* what, const std::vector<double>& values, const char* unit) {
    const Summary s = summarise(values);
    fmt::print("{:<34} {:>9.2f} {:>9.2f} {:>9.2f} {}\n", what, s.least, s.median, s.most, unit);
  };
  row("fork + exec, returning at once", floors, "ms");
  row("launcher, first fork to gate", launches, "ms");
  row("ratio, round by round", ratios, "");
  row("gate skew, first to last released", skews, "ms");
  return 0;
}
