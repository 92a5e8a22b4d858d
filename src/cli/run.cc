// rollcall run: an experiment from options to verdict. The thinking is in
// src/study and src/analysis; here options become a plan request, progress
// becomes lines, and the summary becomes an exit status.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/summary.h"
#include "base/files.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "probe/observe.h"
#include "report/terminal.h"
#include "study/experiment.h"
#include "study/processes_left.h"
#include "study/run_space.h"

namespace rollcall::cli {
namespace {

constexpr size_t kMaxPlanFileBytes = 1 << 20;

struct RunOptions {
  std::string plan_file;
  study::PlanRequest request;
  std::optional<std::string> out;
  bool resume = false;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> fail_on;
};

// A folder nobody has used yet, named for the moment.
std::string default_out() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  strftime(text.data(), text.size(), "rollcall-%Y%m%dT%H%M%SZ", &parts);
  std::string name = text.data();
  std::error_code ignored;
  for (int n = 2; std::filesystem::exists(name, ignored); ++n) name = fmt::format("{}-{}", text.data(), n);
  return name;
}

base::Result<std::set<analysis::Class>> parse_classes(const std::vector<std::string>& names) {
  std::set<analysis::Class> classes;
  for (const std::string& name : names) {
    const auto value = analysis::class_from_text(name);
    if (!value) {
      return base::usage_error("--fail-on", fmt::format("unknown class '{}'", name),
                               "expected self, peer, external, discovery_failed or unresolved");
    }
    classes.insert(*value);
  }
  return classes;
}

bool says_something(const study::PlanRequest& r) {
  return r.topologies || r.arms || r.runs || r.node || r.profile || r.time_scale || r.workload || r.hold ||
         r.isolate || r.broker || r.view || r.neighbours || r.devices || r.shims || r.order || r.seed ||
         r.gpus || r.worker_timeout_s || r.run_timeout_s;
}

// A file, or the name of a plan that comes with the program.
base::Result<std::filesystem::path> find_plan(const std::string& given, const study::Paths& paths) {
  std::error_code ignored;
  const bool is_name = given.find('/') == std::string::npos && !given.ends_with(".toml");
  if (!is_name || std::filesystem::exists(given, ignored)) return given;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(paths.plan_dir, ignored)) {
    if (entry.path().stem() == given) return entry.path();
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  const std::string meant = base::did_you_mean(given, names);
  return base::usage_error(given, "neither a file nor a plan that comes with the program",
                           meant.empty() ? fmt::format("those are: {}", fmt::join(names, ", ")) : meant);
}

// What `auto` chose, and why: nobody should have to guess which node was measured.
void tell_choice(const base::Result<probe::NodeFacts>& facts) {
  if (facts && study::is_stand_in(*facts)) {
    tell(
        "rollcall: this program itself runs on a simulated node (rollcall sim exec), so each run gets one of "
        "its own");
    return;
  }
  if (facts && facts->usable()) {
    tell(fmt::format("rollcall: this machine's own node: {} device{}, driver {}", facts->cuda_uuids.size(),
                     facts->cuda_uuids.size() == 1 ? "" : "s",
                     facts->driver_version.empty() ? "of unknown version" : facts->driver_version));
    return;
  }
  tell(fmt::format("rollcall: no GPU to use here, so the simulated node ({})",
                   facts ? facts->cuda_error : facts.error().line()));
}

base::Result<study::Plan> make_plan(const RunOptions& options, const study::Paths& paths) {
  study::PlanRequest request;
  if (!options.plan_file.empty()) {
    const auto found = find_plan(options.plan_file, paths);
    if (!found) return tl::unexpected(found.error());
    const std::string file = found->string();
    const auto text = base::read_file(file, kMaxPlanFileBytes);
    if (!text) return base::usage_error(text.error().where, text.error().what, text.error().advice);
    auto parsed = study::parse_plan_file(*text, file);
    if (!parsed) return tl::unexpected(parsed.error());
    request = *parsed;
  }
  request.override_with(options.request);
  const auto observe = [&](bool all_devices) {
    probe::ProbeProgram program;
    program.file = paths.probe;
    program.environment = study::without_withheld();
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    // An empty value would remove it; set and empty it hides all devices, as -1 does.
    if (!all_devices && visible != nullptr) {
      program.environment.emplace_back("CUDA_VISIBLE_DEVICES", *visible != '\0' ? visible : "-1");
    }
    auto facts = probe::observe_node(program);
    if (!options.quiet && request.node.value_or("auto") == "auto") tell_choice(facts);
    return facts;
  };
  return study::resolve_plan(request, paths.profile_dir, observe);
}

base::Result<study::Experiment> conduct(const RunOptions& options, const study::Paths& paths,
                                        Progress& progress, const std::string& out, int interrupt_fd) {
  study::ExperimentSetup setup;
  setup.paths = &paths;
  setup.out = out;
  setup.interrupt_fd = interrupt_fd;
  setup.progress = [&](const study::PlannedRun& run, int total, const study::RunProgress& state) {
    progress.show(run, total, state);
  };
  setup.committed = [&](const study::PlannedRun& run, int total, const evidence::Run& done,
                        const std::vector<std::string>& reasons) {
    progress.committed(run, total, done, reasons);
  };
  if (options.resume) {
    if (says_something(options.request) || !options.plan_file.empty()) {
      return base::usage_error("--resume", "an experiment goes on by its own frozen plan",
                               "leave the plan's options out, or start a new one with another --out");
    }
    return study::resume_experiment(setup);
  }
  const auto plan = make_plan(options, paths);
  if (!plan) return tl::unexpected(plan.error());
  return study::run_experiment(setup, *plan);
}

int verdict(const study::Experiment& experiment, const analysis::ExperimentSummary& summary,
            const std::set<analysis::Class>& fail_on) {
  for (const analysis::Class value : analysis::occurred(experiment.runs, fail_on)) {
    tell(fmt::format("rollcall: the class {} occurred (--fail-on)", analysis::to_text(value)));
    return kClassOccurred;
  }
  if (!summary.invalid.empty()) {
    tell(fmt::format("rollcall: the experiment is invalid: invalid runs: {} of {}", summary.invalid.size(),
                     summary.runs));
    return kInvalid;
  }
  // A worker that nothing is known of could be in any class that was asked for.
  if (!fail_on.empty() && !analysis::occurred(experiment.runs, {analysis::Class::kUnresolved}).empty()) {
    tell(
        "rollcall: unresolved: workers under test could not be resolved, so --fail-on cannot tell that none "
        "is in "
        "these classes; workers.jsonl gives the reason of each");
    return kInvalid;
  }
  if (!fail_on.empty() && summary.control != analysis::Control::kVisible) {
    tell(fmt::format(
        "rollcall: control_not_visible: {}",
        summary.control == analysis::Control::kAbsent
            ? "no isolated caches were run with the arm legacy, so --fail-on cannot see the fault; add one "
              "such topology, for example --topology 50x5, and --arm legacy"
            : "isolated caches with legacy showed no peer, so --fail-on cannot see the fault here"));
    return kInvalid;
  }
  return kDone;
}

int execute(const RunOptions& options) {
  const auto fail_on = parse_classes(options.fail_on);
  if (!fail_on) return report_error(fail_on.error());
  if (options.out && options.out->empty()) {
    return report_error(
        {base::ErrorKind::kUsage, "--out", "expected the name of a folder, found nothing", ""});
  }
  if (options.resume && !options.out) {
    return report_error(
        {base::ErrorKind::kUsage, "--resume", "which experiment?", "name its folder with --out"});
  }
  const auto paths = study::find_paths();
  if (!paths) return report_error(paths.error());
  const std::string out = options.out ? *options.out : default_out();
  study::keep_orphans();
  Interrupt interrupt;
  Progress progress(options.quiet);
  const auto experiment = conduct(options, *paths, progress, out, interrupt.fd());
  progress.finish();
  if (!experiment) {
    if (experiment.error().what != study::kInterrupted) return report_error(experiment.error());
    std::error_code ignored;
    if (!std::filesystem::exists(out, ignored)) {
      return report_error({base::ErrorKind::kFailure, "", "interrupted before the first run", ""});
    }
    return report_error({base::ErrorKind::kFailure, "", "interrupted; the finished runs are kept in " + out,
                         "go on with: rollcall run --resume --out " + out});
  }
  const analysis::ExperimentSummary summary = analysis::summarise(experiment->runs);
  if (options.json) {
    fmt::print("{}", report::json_report(summary));
  } else {
    fmt::print("{}\nEvidence: {}\n", report::terminal_report(summary), out);
  }
  if (std::fflush(stdout) != 0) {
    return report_error(
        {base::ErrorKind::kFailure, "standard output", "cannot write", "the evidence is in " + out});
  }
  return verdict(*experiment, summary, *fail_on);
}

// An option that may be given several times, one value each. By a callback,
// because CLI11 takes an empty value for an empty list, and an empty name must be
// an error like any other wrong one.
CLI::Option* add_repeatable(CLI::App* app, const char* name, std::optional<std::vector<std::string>>& values,
                            const char* description) {
  CLI::Option* option = app->add_option(
      name,
      [&values](const CLI::results_t& given) {
        values = given;
        return true;
      },
      description);
  return option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

Action add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  study::PlanRequest& r = options->request;
  CLI::App* run = app.add_subcommand("run", "Run an experiment and leave its evidence in a folder.");
  run->add_option("plan", options->plan_file,
                  "Plan file (TOML), or the name of one that comes with the program; options override it")
      ->option_text("PLAN.toml");
  add_repeatable(run, "--topology", r.topologies,
                 "KxW: K caches of W workers each; repeatable (default 1x250, 50x5)")
      ->option_text("KxW");
  add_repeatable(run, "--arm", r.arms,
                 "native, native-context, nvml-only, legacy, legacy-node-lock, tiered or one that --shim or "
                 "the plan defines; repeatable (default native, legacy, tiered)")
      ->option_text("NAME");
  add_repeatable(run, "--shim", r.shims,
                 "An arm of your own: a library to preload, or the one of the plan's [arm.NAME]; repeatable")
      ->option_text("NAME=PATH");
  run->add_option("--runs", r.runs, "Repetitions of each condition (default 3)")->option_text("R");
  run->add_option("--node", r.node,
                  "auto, sim or real; auto is this machine's own where it has a GPU (default auto)")
      ->option_text("auto|sim|real");
  run->add_option("--profile", r.profile, "Profile of the simulated node, a name or a file (default study)")
      ->option_text("NAME|FILE");
  run->add_option("--time-scale", r.time_scale, "Multiplies the simulated driver's times (default 0.08)")
      ->option_text("F");
  run->add_option("--workload", r.workload,
                  "init: cuInit alone; context: and a primary context (default init)")
      ->option_text("init|context");
  run->add_option("--hold", r.hold, "none: a worker leaves when its evidence is read; all: when all are done")
      ->option_text("none|all");
  run->add_option("--isolate", r.isolate,
                  "pid: the workers of each cache in a PID, mount and IPC namespace of their own (default "
                  "none)")
      ->option_text("none|pid");
  run->add_flag_callback(
      "--broker", [&r] { r.broker = true; },
      "A broker of each run's own (hostpidd), which the arm tiered asks");
  run->add_option("--view", r.view, "How the simulated NVML numbers processes (default global)")
      ->option_text("global|translated");
  run->add_option("--neighbours", r.neighbours,
                  "Processes without a shim that come and go on the GPU meanwhile (default 0)")
      ->option_text("N");
  run->add_option("--devices", r.devices,
                  "CUDA_VISIBLE_DEVICES of the workers, indices or UUIDs; lists divided by '/' are dealt to "
                  "the caches in turn")
      ->option_text("LIST");
  run->add_option("--gpus", r.gpus, "GPUs of the simulated node (default: as the profile says)")
      ->option_text("N");
  run->add_option("--order", r.order, "Order of the runs (default interleaved)")
      ->option_text("interleaved|blocked");
  run->add_option("--seed", r.seed, "Seed of the order and of the node's jitter (default 1)")
      ->option_text("N");
  run->add_option("--worker-timeout", r.worker_timeout_s,
                  "Seconds for a worker (default 60 + 600 x time scale)")
      ->option_text("S");
  run->add_option("--run-timeout", r.run_timeout_s, "Seconds for a run (default 120 + 900 x time scale)")
      ->option_text("S");
  run->add_option("--out", options->out, "Evidence folder, must not exist (default: a new one here)")
      ->option_text("DIR");
  run->add_flag("--resume", options->resume, "Go on with the interrupted experiment in --out");
  run->add_option(
         "--fail-on", options->fail_on,
         "A gate: exit with 5 if a worker under test is in one of these classes, 3 if that cannot be "
         "told (docs/study.md)")
      ->option_text("CLASS,...")
      ->delimiter(',');
  run->add_flag("--json", options->json, "Print the result as JSON");
  run->add_flag("--quiet", options->quiet, "No progress on standard error");
  return [options] { return execute(*options); };
}

}  // namespace rollcall::cli
