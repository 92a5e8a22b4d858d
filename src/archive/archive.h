// Evidence as one file. The same evidence gives the same bytes wherever and by
// whomever it is packed (with the same versions of GNU tar and libzstd): the members are
// exactly what SHA256SUMS names, in its order, without times, owners or modes, under
// a folder named after the seal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "archive/temporary_folder.h"
#include "base/error.h"

namespace rollcall::archive {

// An archive's content, unpacked, is larger than this: refused. 100 runs of 250 caches with a
// region and a log each are about a gigabyte.
inline constexpr uint64_t kMaxContentBytes = uint64_t{64} << 30;

struct Packed {
  std::string sha256;  // of the archive
  std::string folder;  // the one that it unpacks into
  size_t files = 0;
  uint64_t size_bytes = 0;  // of the archive
};
// Writes `out`, a new file. An unfinished experiment is a usage error, one that does
// not agree with its seal a difference. Nothing is left under `out` after a failure.
base::Result<Packed> pack(const std::filesystem::path& evidence, const std::filesystem::path& out);

// An evidence folder as it was named, or an archive unpacked into a temporary folder of
// this user alone, which goes with this object.
class OpenedEvidence {
 public:
  // What is neither a folder nor an archive with one folder in it is a usage error.
  static base::Result<OpenedEvidence> open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] bool is_archive() const { return !temporary_.path().empty(); }

 private:
  OpenedEvidence() = default;
  std::filesystem::path folder_;
  TemporaryFolder temporary_;  // none: the folder is the user's own
};

}  // namespace rollcall::archive
