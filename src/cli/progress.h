// Progress on standard error: one live line on a terminal, a plain line per
// finished run elsewhere, nothing with --quiet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evidence/records.h"
#include "study/launcher.h"
#include "study/schedule.h"

namespace rollcall::cli {

class Progress {
 public:
  explicit Progress(bool quiet);
  void show(const study::PlannedRun& run, int total, const study::RunProgress& state);
  void committed(const study::PlannedRun& run, int total, const evidence::Run& done,
                 const std::vector<std::string>& invalid_reasons);
  void finish();  // leaves the cursor on a line of its own

 private:
  void clear_line();

  bool quiet_;
  bool live_;
  bool line_open_ = false;
  int64_t last_shown_ns_ = 0;
};

}  // namespace rollcall::cli
