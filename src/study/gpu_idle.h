// Whether anybody else computes on a real node: asked before a run, and waited for
// after it, so that one run's processes are gone before the next is measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "evidence/records.h"
#include "study/launcher.h"

namespace rollcall::study {

// Records who is listed (processes_before). Somebody: the event gpu_not_idle. Could not
// be asked, or others could not be seen from here: the event idle_not_known, because nobody
// listed and nothing known differ.
void check_idle(const std::filesystem::path& probe, const RealNode& node, evidence::RunRecord& record);

// Waits until nobody is listed who was not there `before`; at most ten seconds, and not
// at all where the list cannot be read. The next run's check judges what is left.
void settle(const std::filesystem::path& probe, const std::optional<std::vector<int64_t>>& before);

}  // namespace rollcall::study
