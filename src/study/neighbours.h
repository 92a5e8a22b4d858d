// The neighbours of a run: processes without a shim that keep making a context,
// allocating, freeing and leaving, so that a shim has others to mistake for itself.
// They are kept going by rollcall-probe, which ends when its standard input does.
#pragma once

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/fd.h"
#include "study/spawn.h"

namespace rollcall::study {

class Neighbours {
 public:
  // Returns once each of them has held a context; an error if that takes longer than
  // deadline_ms, and nothing if interrupt_fd (-1: none) became readable before. `log` is a
  // new file for what they complain of.
  static base::Result<std::optional<Neighbours>> start(const std::filesystem::path& probe, int count,
                                                       const EnvironmentBlock& environment,
                                                       const std::filesystem::path& log, int64_t deadline_ms,
                                                       int interrupt_fd);
  Neighbours(Neighbours&&) = default;
  ~Neighbours();  // stop()

  // Ends them all and waits for it. An error if they had stopped by themselves, or could
  // not be kept going. Safe to call twice.
  base::Result<void> stop();

 private:
  Neighbours(Child child, base::Fd lifeline) : child_(std::move(child)), lifeline_(std::move(lifeline)) {}

  Child child_;
  base::Fd lifeline_;
};

}  // namespace rollcall::study
