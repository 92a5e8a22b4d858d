// rollcall doctor: what an experiment will meet on this machine, a line for each
// thing, before anybody spends a night on it.
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "doctor/judge.h"
#include "evidence/topology.h"
#include "study/paths.h"

namespace rollcall::cli {
namespace {

struct DoctorOptions {
  std::string shim;
  int workers = 250;
  bool json = false;
};

int examine(const DoctorOptions& options) {
  if (options.workers < 1 || options.workers > evidence::kMaxWorkers) {
    return report_error({base::ErrorKind::kUsage, "--workers",
                         "expected a number from 1 to " + std::to_string(evidence::kMaxWorkers), ""});
  }
  const auto paths = study::find_paths();
  if (!paths) return report_error(paths.error());
  for (const auto& [file, what] :
       {std::pair(paths->probe, "the probing program"), std::pair(paths->worker, "the worker")}) {
    if (const auto there = study::require_file(file, what); !there) return report_error(there.error());
  }
  const doctor::Facts facts = doctor::gather({paths->probe, paths->worker, options.shim, options.workers});
  const auto checks = doctor::judge(facts);
  const std::string text = options.json ? doctor::json_report(checks, facts) : doctor::text_report(checks);
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return report_error({base::ErrorKind::kFailure, "standard output", "cannot be written", ""});
  }
  return doctor::healthy(checks) ? kDone : kFailed;
}

}  // namespace

Action add_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Say what an experiment would meet on this machine.");
  command->add_option("--shim", options->shim, "A preload library: whether it loads")->option_text("PATH");
  command->add_option("--workers", options->workers, "How many are wanted (default 250)")->option_text("N");
  command->add_flag("--json", options->json, "The checks and the facts as JSON");
  return [options] { return examine(*options); };
}

}  // namespace rollcall::cli
