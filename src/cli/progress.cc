// See progress.h. The live line is repainted ten times a second at most: the
// launcher must not be slowed by the terminal.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "analysis/classify.h"
#include "analysis/times.h"
#include "base/clock.h"
#include "cli/command.h"

namespace rollcall::cli {
namespace {

constexpr int64_t kRepaintNs = 100 * base::kNsPerMs;

// What became of the workers: their classes where there is a shim, else how many finished.
std::string outcome(const evidence::Run& run) {
  if (!run.record.discovers()) {
    const auto finished = std::count_if(
        run.workers.begin(), run.workers.end(),
        [](const evidence::WorkerRecord& worker) { return worker.fate == evidence::Fate::kFinished; });
    return fmt::format("{} of {} workers finished", finished, run.workers.size());
  }
  const analysis::ClassCounts counts = analysis::count_classes(analysis::classify(run));
  std::vector<std::string> parts;
  for (const analysis::Class value : analysis::kClasses) {
    if (counts.of(value) > 0)
      parts.push_back(fmt::format("{} {}", counts.of(value), analysis::to_text(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), live_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::clear_line() {
  if (line_open_) std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

void Progress::show(const study::PlannedRun& run, int total, const study::RunProgress& state) {
  const int64_t now_ns = base::monotonic_ns();
  if (!live_ || now_ns - last_shown_ns_ < kRepaintNs) return;
  last_shown_ns_ = now_ns;
  clear_line();
  std::fputs(fmt::format("[{}/{}] {} {} run {}: {} {}/{}", run.number, total, run.topology.text(), run.arm,
                         run.repetition, state.phase, state.reached, state.workers)
                 .c_str(),
             stderr);
  std::fflush(stderr);
  line_open_ = true;
}

void Progress::committed(const study::PlannedRun& run, int total, const evidence::Run& done,
                         const std::vector<std::string>& invalid_reasons) {
  if (quiet_) return;
  clear_line();
  std::string verdict = "valid";
  if (!invalid_reasons.empty()) verdict = fmt::format("INVALID: {}", fmt::join(invalid_reasons, ", "));
  const auto wall_ns = analysis::external_wall_ns(done.record);
  const std::string wall = wall_ns ? fmt::format("in {:.2f} s", static_cast<double>(*wall_ns) /
                                                                    static_cast<double>(base::kNsPerSecond))
                                   : std::string("in a time that is not known");
  tell(fmt::format("[{}/{}] {} {} run {}: {} {}, {}", run.number, total, run.topology.text(), run.arm,
                   run.repetition, outcome(done), wall, verdict));
}

void Progress::finish() {
  clear_line();
}

}  // namespace rollcall::cli
