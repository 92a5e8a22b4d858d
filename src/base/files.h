// Files as evidence needs them: written whole or not at all, and never over
// something that exists. For our own programs (uses the C++ library).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::base {

// Reads a whole file; a larger one than max_bytes is an error, not a truncation.
Result<std::string> read_file(const std::filesystem::path& path, size_t max_bytes);

// Writes `content` to a temporary name beside `path`, flushes it to the disk
// and gives it its name. Fails if `path` exists. After a failure nothing is
// left under the final name, and the temporary file is gone.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view content);

// The same in pieces, for what does not fit into memory. Until finish() there is nothing under the
// name, and nothing is left if this object goes before. Not thread-safe.
class NewFile {
 public:
  // Fails where the file could not be made; that the name is taken is told by finish().
  static Result<NewFile> create(const std::filesystem::path& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  Result<void> write(std::string_view piece);
  Result<void> finish();  // flushes it to the disk and gives it its name

 private:
  NewFile(std::filesystem::path path, Fd fd, std::filesystem::path temporary)
      : path_(std::move(path)), fd_(std::move(fd)), temporary_(std::move(temporary)) {}
  std::filesystem::path path_;
  Fd fd_;
  std::filesystem::path temporary_;  // empty: the file has no name yet
};

// Makes one directory that must not exist yet.
Result<void> make_new_directory(const std::filesystem::path& path);

// Renames without ever replacing (renameat2 with RENAME_NOREPLACE).
Result<void> rename_new(const std::filesystem::path& from, const std::filesystem::path& to);

// Flushes a directory's entries to the disk.
Result<void> sync_directory(const std::filesystem::path& path);

}  // namespace rollcall::base
