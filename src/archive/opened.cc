// See archive.h. An archive may come from anybody: what it unpacks to is bounded while
// it is unpacked, goes into a fresh folder that only this user can enter, and keeps
// neither owners nor modes. GNU tar itself refuses to leave that folder.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>
#include <vector>

#include "archive/archive.h"
#include "archive/stream.h"
#include "archive/tar.h"
#include "evidence/limits.h"

namespace rollcall::archive {
namespace {

namespace fs = std::filesystem;

// With less than this left it is the space that a failure is about.
constexpr uint64_t kLeastSpaceBytes = 64 << 10;

base::Result<void> send_all(int socket, std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t sent = send(socket, piece.data(), piece.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // It has ended and tar says why.
    if (sent < 0) return base::failure("tar", "it ended before the archive did");
    piece.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

// Whether it is the archive that is wrong, or there is no room for it here. tar tells only in words.
tl::unexpected<base::Error> unpacking_failed(const fs::path& archive, const fs::path& into,
                                             const base::Error& error) {
  std::error_code ignored;
  const fs::space_info space = fs::space(into, ignored);
  const bool no_room = (!ignored && space.available < kLeastSpaceBytes) ||
                       error.what.find("No space left") != std::string::npos ||
                       error.what.find("File too large") != std::string::npos ||
                       error.what.find("Wrote only") != std::string::npos ||
                       error.what.find("quota") != std::string::npos;
  if (no_room) {
    return base::failure(into.parent_path().string(),
                         "no room to unpack " + archive.string() + ": " + error.line(),
                         "set TMPDIR to a folder with more space");
  }
  return base::usage_error(archive.string(), "cannot be unpacked: " + error.line(),
                           "it must be an archive that rollcall archive made");
}

base::Result<void> unpack(const fs::path& archive, const fs::path& into) {
  const base::Fd fd(open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return base::system_failure(archive.string(), "open", errno);
  auto tar = Tar::start(
      {"--extract", "--file=-", "--ignore-zeros", "--directory=" + into.string(), "--no-same-owner",
       "--no-same-permissions", "--no-acls", "--no-selinux", "--no-xattrs", "--keep-old-files"},
      Tar::Stream::kToTar, {});
  if (!tar) return tl::unexpected<base::Error>(tar.error());
  bool broken = false;
  auto sent = decompress_stream(fd.get(), kMaxContentBytes, archive.string(), [&](std::string_view piece) {
    auto taken = send_all(tar->stream(), piece);
    broken = !taken;
    return taken;
  });
  if (!sent && !broken) return sent;
  if (auto ended = tar->wait(); !ended) return unpacking_failed(archive, into, ended.error());
  if (broken) return base::usage_error(archive.string(), "something follows the end of the archive in it");
  return {};
}

// What is in it may claim sizes that it does not have (a sparse member): bounded before
// anything is read.
base::Result<fs::path> the_one_folder(const fs::path& temporary, const std::string& where) {
  std::vector<fs::path> found;
  uint64_t size_bytes = 0;
  size_t entries = 0;
  std::error_code error;
  auto walk = fs::recursive_directory_iterator(temporary, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (walk.depth() == 0) found.push_back(walk->path());
    const fs::file_status status = walk->symlink_status(error);
    if (error) break;
    if (fs::is_regular_file(status)) size_bytes += fs::file_size(walk->path(), error);
    if (++entries > evidence::kMaxFiles || size_bytes > kMaxContentBytes) {
      return base::usage_error(where, "unpacks to more files or bytes than evidence may have");
    }
  }
  if (error) return base::system_failure(temporary.string(), "list the folder", error.value());
  if (found.size() != 1 || !fs::is_directory(fs::symlink_status(found.front(), error))) {
    return base::usage_error(where, "expected an archive with one folder in it",
                             "it must be an archive that rollcall archive made");
  }
  return found.front();
}

}  // namespace

base::Result<OpenedEvidence> OpenedEvidence::open(const fs::path& path) {
  std::error_code error;
  OpenedEvidence opened;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    opened.folder_ = path;
    return opened;
  }
  if (!fs::is_regular_file(status)) {
    return base::usage_error(path.string(), "expected an evidence folder or an archive, found neither");
  }
  auto temporary = TemporaryFolder::make();
  if (!temporary) return tl::unexpected<base::Error>(temporary.error());
  opened.temporary_ = std::move(*temporary);
  if (auto unpacked = unpack(path, opened.temporary_.path()); !unpacked)
    return tl::unexpected<base::Error>(unpacked.error());
  make_accessible(opened.temporary_.path());
  auto folder = the_one_folder(opened.temporary_.path(), path.string());
  if (!folder) return tl::unexpected<base::Error>(folder.error());
  opened.folder_ = std::move(*folder);
  return opened;
}

}  // namespace rollcall::archive
