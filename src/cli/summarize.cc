// rollcall summarize: derives the tables again from the raw records of an
// evidence folder, or derives those of logs without making evidence of them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analysis/tables.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/evidence_input.h"
#include "cli/log_options.h"
#include "evidence/layout.h"
#include "importer/read_logs.h"

namespace rollcall::cli {
namespace {

struct SummarizeOptions {
  LogOptions logs;
  std::string input_dir;
  std::string output_dir;
};

namespace fs = std::filesystem;

// Whether somebody put logs where evidence is expected: a file whose name says so, not far down.
bool looks_like_logs(const fs::path& folder) {
  constexpr int kMaxDepth = 3;
  constexpr int kMaxEntries = 10'000;
  std::error_code error;
  auto walk = fs::recursive_directory_iterator(folder, error);
  for (int seen = 0; !error && walk != fs::recursive_directory_iterator() && seen < kMaxEntries; ++seen) {
    if (walk->path().extension() == ".log") return true;
    if (walk.depth() >= kMaxDepth) walk.disable_recursion_pending();
    walk.increment(error);
  }
  return false;
}

base::Result<std::vector<evidence::Run>> runs_of_evidence(const SummarizeOptions& options,
                                                          importer::WallTimes& wall_times) {
  std::error_code error;
  const fs::path folder = options.input_dir;
  if (fs::is_directory(folder, error) && !fs::exists(folder / evidence::kRunsFolder, error) &&
      looks_like_logs(folder)) {
    return base::usage_error("--input-dir " + options.input_dir,
                             "this is no evidence folder, but there are logs in it",
                             "say with --layout how their paths are made, e.g. "
                             "--layout '{arm}-{topology}-run{run}/cache_{cache}.log'");
  }
  auto input = open_evidence(options.input_dir);
  if (!input) return tl::unexpected(input.error());
  if (input->finished) {
    if (auto outside = evidence::check_outside(options.output_dir, input->folder()); !outside)
      return tl::unexpected(outside.error());
  }
  for (evidence::Run& run : input->runs) wall_times.join(run.record);
  tell_unfinished(*input, "the tables are of");
  return std::move(input->runs);
}

base::Result<std::vector<evidence::Run>> runs_of_logs(const SummarizeOptions& options,
                                                      importer::WallTimes& wall_times) {
  const auto read_options = to_read_options(options.logs, options.input_dir);
  if (!read_options) return tl::unexpected(read_options.error());
  const auto plan = importer::plan_reading(*read_options);
  if (!plan) return tl::unexpected(plan.error());
  auto result = importer::read_logs(*plan, wall_times, nullptr);
  if (!result) return tl::unexpected(result.error());
  for (const std::string& note : importer::reading_notes(*plan, *result)) tell("rollcall: " + note);
  if (options.logs.truth.empty()) tell("rollcall: not checked against a launcher (--truth)");
  return std::move(result->runs);
}

base::Result<void> write_tables(const std::vector<analysis::DerivedFile>& files, const fs::path& output) {
  std::error_code error;
  for (const analysis::DerivedFile& file : files) {
    if (fs::exists(output / file.name, error)) {
      return base::usage_error((output / file.name).string(), "exists; nothing is overwritten",
                               "choose another --output-dir");
    }
  }
  fs::create_directories(output, error);
  if (error) return base::system_failure(output.string(), "make the folder", error.value());
  for (const analysis::DerivedFile& file : files) {
    if (auto written = base::write_new_file(output / file.name, file.content); !written) return written;
  }
  return {};
}

base::Result<int> summarize(const SummarizeOptions& options) {
  if (const std::string alone = needs_layout(options.logs); !alone.empty()) {
    return base::usage_error(alone, "is only for logs", "say with --layout how their paths are made");
  }
  auto wall_times = read_wall_times(options.logs.external_wall_times);
  if (!wall_times) return tl::unexpected(wall_times.error());
  const auto runs = options.logs.layout.empty() ? runs_of_evidence(options, *wall_times)
                                                : runs_of_logs(options, *wall_times);
  if (!runs) return tl::unexpected(runs.error());
  if (auto written = write_tables(analysis::derive_all(*runs), options.output_dir); !written)
    return tl::unexpected(written.error());
  return tell_wall_times(*wall_times) ? kDifference : kDone;
}

}  // namespace

Action add_summarize(CLI::App& app) {
  auto options = std::make_shared<SummarizeOptions>();
  CLI::App* command =
      app.add_subcommand("summarize", "Derive the tables of an evidence folder again, or those of logs.");
  command->add_option("--input-dir", options->input_dir, "Evidence folder; with --layout, folder with logs")
      ->required()
      ->option_text("DIR");
  command->add_option("--output-dir", options->output_dir, "Where the tables go; made if missing")
      ->required()
      ->option_text("DIR");
  add_log_options(*command, options->logs, false);
  return [options]() -> int {
    const auto status = summarize(*options);
    return status ? *status : report_error(status.error());
  };
}

}  // namespace rollcall::cli
