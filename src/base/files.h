// Files as evidence needs them: written whole or not at all, and never over
// something that exists. For our own programs (uses the C++ library).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::base {

// Reads a whole file; a larger one than max_bytes is an error, not a truncation.
Result<std::string> read_file(const std::filesystem::path& path, size_t max_bytes);

// Writes `content` to a temporary name beside `path`, flushes it to the disk
// and gives it its name. Fails if `path` exists. After a failure nothing is
// left under the final name, and the temporary file is gone.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view content);

// Makes one directory that must not exist yet.
Result<void> make_new_directory(const std::filesystem::path& path);

// Renames without ever replacing (renameat2 with RENAME_NOREPLACE).
Result<void> rename_new(const std::filesystem::path& from, const std::filesystem::path& to);

// Flushes a directory's entries to the disk.
Result<void> sync_directory(const std::filesystem::path& path);

}  // namespace rollcall::base
