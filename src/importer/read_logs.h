// Reads the logs of a folder into runs: for tables alone, or copied into an evidence folder
// while they are read. The thin shell around find_logs, arrange, LogScanner and assemble.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/folder.h"
#include "evidence/records.h"
#include "importer/arrange.h"
#include "importer/log_scanner.h"
#include "importer/path_template.h"
#include "importer/truth_file.h"
#include "importer/wall_times.h"

namespace rollcall::importer {

inline constexpr uint64_t kMaxLogBytes = uint64_t{64} << 30;
inline constexpr size_t kMaxLogs = 100'000;

struct ReadOptions {
  std::filesystem::path input_dir;
  std::string layout;
  std::string regions;                           // empty: none
  std::string truth;                             // empty: none
  std::optional<evidence::Isolation> isolation;  // unset: none is assumed
  std::optional<evidence::NvmlView> view;        // unset: not known
};

// What is to be read: everything that can be wrong with the input's form is found here,
// before anything is written.
struct ReadPlan {
  ReadOptions options;
  std::optional<PathTemplate> regions;
  std::vector<RunFiles> runs;
  std::vector<std::optional<std::string>> truth_texts;  // by run
  std::vector<std::optional<Truth>> truths;
  std::vector<Skipped> skipped;
};
base::Result<ReadPlan> plan_reading(const ReadOptions& options);

// What became of one file.
struct LogReport {
  std::string path;  // below the input folder
  std::string copy;  // below the run's folder
  int cache = 0;
  LogReading counts;  // without its benchmarks, and of its speakers only how many
  size_t speakers = 0;
  bool changed = false;  // it was written to while it was read
  std::string fault;     // why it could not be read; empty: it was
};
struct RegionReport {
  std::string path;
  std::string fault;  // why it is no evidence; empty: it is
};
struct RunReport {
  std::string id;
  std::vector<LogReport> logs;
  std::vector<RegionReport> regions;
  int strangers = 0;
  int silent = 0;
};
struct ReadResult {
  std::vector<evidence::Run> runs;
  std::vector<RunReport> reports;  // one for each
};
// `folder`: where each run goes, with copies of what it was read from; null: nowhere.
base::Result<ReadResult> read_logs(const ReadPlan& plan, WallTimes& wall_times,
                                   evidence::FolderWriter* folder);

// import.json: what was read and how, and what could not be. The same input gives the same
// bytes; of the machine it says nothing.
std::string import_json(const ReadPlan& plan, const ReadResult& result, size_t wall_time_rows);

// The same for a person: what could not be read, a line each; empty if there is nothing.
std::vector<std::string> reading_notes(const ReadPlan& plan, const ReadResult& result);

}  // namespace rollcall::importer
