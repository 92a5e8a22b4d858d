// What tells whether a file is still the one that was written: the room's own, for the
// checksums that need not be computed again.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "evidence/folder.h"

struct stat;

namespace rollcall::evidence {

using StampedFile = std::pair<KnownSums::key_type, KnownSum>;  // without its sum

StampedFile stamp_of(const struct stat& info);
// Unset if it cannot be examined or is no regular file.
std::optional<StampedFile> stamp_of(const std::filesystem::path& path);

}  // namespace rollcall::evidence
