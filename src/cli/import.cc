// rollcall import: logs of other harnesses become evidence.
#include <fmt/format.h>

#include <memory>

#include "analysis/summary.h"
#include "analysis/tables.h"
#include "cli/command.h"
#include "cli/log_options.h"
#include "evidence/folder.h"
#include "evidence/layout.h"
#include "importer/read_logs.h"
#include "report/terminal.h"

namespace rollcall::cli {
namespace {

struct ImportOptions {
  LogOptions logs;
  std::string input_dir;
  std::string out;
  bool json = false;
};

base::Result<int> import_logs(const ImportOptions& options) {
  auto wall_times = read_wall_times(options.logs.external_wall_times);
  if (!wall_times) return tl::unexpected<base::Error>(wall_times.error());
  const auto read_options = to_read_options(options.logs, options.input_dir);
  if (!read_options) return tl::unexpected<base::Error>(read_options.error());
  if (auto fresh = evidence::FolderWriter::check_new(options.out); !fresh) {
    return base::usage_error("--out " + options.out, "exists; nothing is overwritten",
                             "choose another --out");
  }
  const auto plan = importer::plan_reading(*read_options);
  if (!plan) return tl::unexpected<base::Error>(plan.error());
  auto folder = evidence::FolderWriter::create(options.out);
  if (!folder) return tl::unexpected<base::Error>(folder.error());
  const auto result = importer::read_logs(*plan, *wall_times, &*folder);
  if (!result) return tl::unexpected<base::Error>(result.error());
  const std::string import = importer::import_json(*plan, *result, wall_times->rows());
  if (auto wrote = folder->write(evidence::kImportFile, import); !wrote)
    return tl::unexpected<base::Error>(wrote.error());
  for (const analysis::DerivedFile& file : analysis::derive_all(result->runs)) {
    if (auto wrote = folder->write(std::filesystem::path(evidence::kDerivedFolder) / file.name, file.content);
        !wrote)
      return tl::unexpected<base::Error>(wrote.error());
  }
  if (auto finished = folder->finish(); !finished) return tl::unexpected<base::Error>(finished.error());

  const analysis::ExperimentSummary summary = analysis::summarise(result->runs);
  fmt::print("{}", options.json ? report::json_report(summary) : report::terminal_report(summary));
  const auto notes = importer::reading_notes(*plan, *result);
  if (options.json) {
    for (const std::string& note : notes) tell("rollcall: " + note);
  } else {
    if (!notes.empty()) fmt::print("\n");
    for (const std::string& note : notes) fmt::print("  {}\n", note);
    fmt::print("\nEvidence: {}\n", options.out);
  }
  if (std::fflush(stdout) != 0) {
    return base::failure("standard output", "cannot write", "the evidence is in " + options.out);
  }
  const bool differs = tell_wall_times(*wall_times);
  if (differs) return kDifference;
  return summary.invalid.empty() ? kDone : kInvalid;
}

}  // namespace

Action add_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Make evidence of what other harnesses left.");
  command->require_subcommand(1);
  CLI::App* logs = command->add_subcommand("hami-logs", "Logs, and regions, of HAMi-core.");
  logs->add_option("--input-dir", options->input_dir, "Folder with the logs; it is only read")
      ->required()
      ->option_text("DIR");
  add_log_options(*logs, options->logs, true);
  logs->add_option("--out", options->out, "The evidence folder; must not exist")
      ->required()
      ->option_text("DIR");
  logs->add_flag("--json", options->json, "Print the summary as JSON");
  return [options]() -> int {
    const auto status = import_logs(*options);
    return status ? *status : report_error(status.error());
  };
}

}  // namespace rollcall::cli
