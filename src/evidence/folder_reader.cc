// Reading an evidence folder back, strictly: what stands in runs/ is what the
// tables are made of, so a stray file, a renamed folder or a half line there is
// an error and not a gap.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/files.h"
#include "evidence/folder.h"
#include "evidence/layout.h"
#include "evidence/limits.h"
#include "evidence/sha256.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;

using base::Result;

// The names in a folder, in byte order.
Result<std::vector<std::string>> names_in(const fs::path& folder, size_t max_count) {
  std::vector<std::string> names;
  std::error_code error;
  auto walk = fs::directory_iterator(folder, error);
  for (; !error && walk != fs::directory_iterator(); walk.increment(error)) {
    names.push_back(walk->path().filename().string());
    if (names.size() > max_count) {
      return base::usage_error(folder.string(),
                               fmt::format("more than the {} entries expected at most", max_count));
    }
  }
  if (error) return base::system_failure(folder.string(), "list the folder", error.value());
  std::sort(names.begin(), names.end());
  return names;
}

bool has_type(const fs::path& path, fs::file_type type) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == type;
}

Result<void> check_contents(const fs::path& folder) {
  struct Entry {
    std::string_view name;
    fs::file_type type;
  };
  static constexpr std::array kExpected = {
      Entry{kTruthFile, fs::file_type::regular},  // imported runs only
      Entry{kRunFile, fs::file_type::regular}, Entry{kWorkersFile, fs::file_type::regular},
      Entry{kLogsFolder, fs::file_type::directory}, Entry{kRegionsFolder, fs::file_type::directory}};
  const auto names = names_in(folder, kMaxFiles);
  if (!names) return tl::unexpected<base::Error>(names.error());
  for (const std::string& name : *names) {
    const bool expected = std::any_of(kExpected.begin(), kExpected.end(), [&](const Entry& entry) {
      return entry.name == name && has_type(folder / name, entry.type);
    });
    if (!expected)
      return base::usage_error((folder / name).string(), "this does not belong into a run's folder");
  }
  return {};
}

Result<std::vector<WorkerRecord>> parse_workers(std::string_view text, const std::string& where) {
  std::vector<WorkerRecord> workers;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string at = fmt::format("{}:{}", where, line);
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return base::usage_error(at, "the last line has no end: the file was cut short");
    }
    if (workers.size() == static_cast<size_t>(kMaxWorkers)) {
      return base::usage_error(at, fmt::format("more than {} workers", kMaxWorkers));
    }
    auto worker = parse_worker(text.substr(0, end), at);
    if (!worker) return tl::unexpected<base::Error>(worker.error());
    workers.push_back(std::move(*worker));
    text.remove_prefix(end + 1);
  }
  return workers;
}

Result<Run> read_run(const fs::path& folder) {
  if (!has_type(folder, fs::file_type::directory)) {
    return base::usage_error(folder.string(), "expected the folder of a run");
  }
  if (auto good = check_contents(folder); !good) return tl::unexpected<base::Error>(good.error());
  const fs::path run_file = folder / kRunFile;
  const fs::path workers_file = folder / kWorkersFile;
  Run run;
  auto text = base::read_file(run_file, kMaxRunFileBytes);
  if (!text) return tl::unexpected<base::Error>(text.error());
  auto record = parse_run(*text, run_file.string());
  if (!record) return tl::unexpected<base::Error>(record.error());
  run.record = std::move(*record);
  if (run.record.id() != folder.filename().string()) {
    return base::usage_error(run_file.string(),
                             fmt::format("this is the record of run {}, found in the folder {}",
                                         run.record.id(), folder.filename().string()));
  }
  text = base::read_file(workers_file, kMaxWorkersFileBytes);
  if (!text) return tl::unexpected<base::Error>(text.error());
  auto workers = parse_workers(*text, workers_file.string());
  if (!workers) return tl::unexpected<base::Error>(workers.error());
  run.workers = std::move(*workers);
  return run;
}

// A run that was made by another plan does not belong to this experiment.
Result<void> check_plan(const fs::path& folder, const std::vector<Run>& runs) {
  const fs::path plan_file = folder / kPlanFile;
  std::error_code error;
  if (!fs::exists(plan_file, error)) return {};  // imported or hand-made: nothing to compare with
  const auto sum = sha256_file(plan_file);
  if (!sum) return tl::unexpected<base::Error>(sum.error());
  for (const Run& run : runs) {
    if (run.record.plan_sha256 == *sum) continue;
    return base::usage_error(
        (folder / kRunsFolder / run.record.id() / kRunFile).string(),
        fmt::format("was made by a plan with SHA-256 {}, found one with {}", run.record.plan_sha256, *sum),
        "it belongs to another experiment");
  }
  return {};
}

}  // namespace

Result<std::vector<Run>> read_runs(const fs::path& folder) {
  const fs::path runs_folder = folder / kRunsFolder;
  if (!has_type(runs_folder, fs::file_type::directory)) {
    return base::usage_error(folder.string(),
                             fmt::format("this is no evidence folder: it has no {}/", kRunsFolder),
                             "name the folder that `rollcall run` wrote");
  }
  const auto names = names_in(runs_folder, kMaxRuns);
  if (!names) return tl::unexpected<base::Error>(names.error());
  std::vector<Run> runs;
  for (const std::string& name : *names) {
    auto run = read_run(runs_folder / name);
    if (!run) return tl::unexpected<base::Error>(run.error());
    runs.push_back(std::move(*run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const Run& a, const Run& b) { return a.record.number < b.record.number; });
  const auto twice = std::adjacent_find(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.record.number == b.record.number;
  });
  if (twice != runs.end()) {
    return base::usage_error(runs_folder.string(),
                             fmt::format("two runs have the number {}: {} and {}", twice->record.number,
                                         twice->record.id(), std::next(twice)->record.id()));
  }
  if (auto same_plan = check_plan(folder, runs); !same_plan)
    return tl::unexpected<base::Error>(same_plan.error());
  return runs;
}

}  // namespace rollcall::evidence
