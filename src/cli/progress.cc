// See progress.h. The live line is repainted ten times a second at most: the
// launcher must not be slowed by the terminal.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace rollcall::cli {
namespace {
constexpr int64_t kRepaintNs = 100 * base::kNsPerMs;
}

Progress::Progress(bool quiet) : quiet_(quiet), live_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::clear_line() {
  if (line_open_) fmt::print(stderr, "\r\033[K");
  line_open_ = false;
}

void Progress::show(const study::PlannedRun& run, int total, const study::RunProgress& state) {
  const int64_t now_ns = base::monotonic_ns();
  if (!live_ || now_ns - last_shown_ns_ < kRepaintNs) return;
  last_shown_ns_ = now_ns;
  clear_line();
  fmt::print(stderr, "[{}/{}] {} {} run {}: {} {}/{}", run.number, total, run.topology.text(), run.arm,
             run.repetition, state.phase, state.reached, state.workers);
  std::fflush(stderr);
  line_open_ = true;
}

void Progress::committed(const study::PlannedRun& run, int total, const evidence::Run& done,
                         const std::vector<std::string>& invalid_reasons) {
  if (quiet_) return;
  clear_line();
  const auto finished = std::count_if(
      done.workers.begin(), done.workers.end(),
      [](const evidence::WorkerRecord& worker) { return worker.fate == evidence::Fate::kFinished; });
  std::string verdict = "valid";
  if (!invalid_reasons.empty()) verdict = fmt::format("INVALID: {}", fmt::join(invalid_reasons, ", "));
  const double wall_s =
      static_cast<double>(done.record.last_gone_ns.value_or(0) - done.record.collect_ns.value_or(0)) /
      static_cast<double>(base::kNsPerSecond);
  fmt::print(stderr, "[{}/{}] {} {} run {}: {} of {} workers finished in {:.2f} s, {}\n", run.number, total,
             run.topology.text(), run.arm, run.repetition, finished, done.workers.size(), wall_s, verdict);
}

void Progress::finish() {
  clear_line();
}

}  // namespace rollcall::cli
