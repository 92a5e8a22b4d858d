// The options that say how logs are to be read, shared by `import` and `summarize`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "importer/read_logs.h"
#include "importer/wall_times.h"

namespace rollcall::cli {

struct LogOptions {
  std::string layout;
  std::string regions;
  std::string truth;
  std::string isolation;
  std::string view;
  std::string external_wall_times;
};

void add_log_options(CLI::App& command, LogOptions& options, bool layout_required);
// The first option that is only for logs and was given without --layout; empty: none.
std::string needs_layout(const LogOptions& options);
base::Result<importer::ReadOptions> to_read_options(const LogOptions& options, const std::string& input_dir);

// Without a name: no times.
base::Result<importer::WallTimes> read_wall_times(const std::string& file);
// Tells what of the table did not fit on standard error; true if a run's time differs.
bool tell_wall_times(const importer::WallTimes& times);

}  // namespace rollcall::cli
