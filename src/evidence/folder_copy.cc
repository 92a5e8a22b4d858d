// Copying files into evidence while they are read for something else. Logs can be
// gigabytes, so each is read once, through one buffer that stays in the processor's
// second-level cache while it is parsed, hashed and written.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "evidence/file_stamp.h"
#include "evidence/folder.h"
#include "evidence/sha256.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0666;  // the umask decides
// Half of a common second-level cache of 512 KiB. Read, not mapped: a file that is cut
// short while it is mapped kills who reads it.
constexpr size_t kPieceBytes = size_t{256} << 10;

int64_t ns_of(const timespec& time) {
  return time.tv_sec * base::kNsPerSecond + time.tv_nsec;
}

base::Result<void> write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t wrote = write(fd, content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return base::system_failure(path.string(), "write", errno);
    content.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

// A new file and the sum of what is written to it.
class SummedFile {
 public:
  explicit SummedFile(fs::path path)
      : path_(std::move(path)),
        fd_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode)),
        error_(fd_.valid() ? 0 : errno) {}

  base::Result<void> add(std::string_view bytes) {
    if (!fd_.valid()) return base::system_failure(path_.string(), "create", error_);
    sum_.add(bytes);
    return write_all(fd_.get(), bytes, path_);
  }
  base::Result<void> end(KnownSums& known) {
    if (auto made = add({}); !made) return made;
    auto hex = sum_.hex();
    if (!hex) return tl::unexpected<base::Error>(hex.error());
    struct stat info {};
    if (fstat(fd_.get(), &info) != 0) return base::system_failure(path_.string(), "examine", errno);
    StampedFile stamped = stamp_of(info);
    stamped.second.sha256 = std::move(*hex);
    known[stamped.first] = std::move(stamped.second);
    return {};
  }

 private:
  fs::path path_;
  base::Fd fd_;
  int error_;
  Sha256 sum_;
};

using Step = std::function<base::Result<void>(std::string_view)>;

base::Result<Copied> read_in_steps(const fs::path& source, uint64_t max_bytes, const Step& step) {
  // Not blocking: opening a FIFO would wait for its writer for ever.
  const base::Fd fd(open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) return base::system_failure(source.string(), "open", errno);
  struct stat before {};
  if (fstat(fd.get(), &before) != 0) return base::system_failure(source.string(), "examine", errno);
  if (!S_ISREG(before.st_mode)) {
    return base::failure(source.string(), "expected a regular file, found something else");
  }
  const auto size = static_cast<uint64_t>(before.st_size);
  if (size > max_bytes) {
    return base::usage_error(
        source.string(), fmt::format("{} bytes, more than the {} that are read of a file", size, max_bytes));
  }
  const auto piece = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  Copied copied;
  while (copied.bytes < size) {
    const size_t wanted = std::min<uint64_t>(kPieceBytes, size - copied.bytes);
    const ssize_t got = read(fd.get(), piece.get(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::system_failure(source.string(), "read", errno);
    if (got == 0) break;  // it was cut short
    if (auto done = step({piece.get(), static_cast<size_t>(got)}); !done)
      return tl::unexpected<base::Error>(done.error());
    copied.bytes += static_cast<uint64_t>(got);
  }
  struct stat after {};
  if (fstat(fd.get(), &after) != 0) return base::system_failure(source.string(), "examine", errno);
  copied.changed = copied.bytes != size || stamp_of(after).second.size_bytes != size ||
                   stamp_of(after).second.modified_ns != stamp_of(before).second.modified_ns;
  return copied;
}

}  // namespace

StampedFile stamp_of(const struct stat& info) {
  KnownSum sum;
  sum.size_bytes = static_cast<uint64_t>(info.st_size);
  sum.modified_ns = ns_of(info.st_mtim);
  sum.changed_ns = ns_of(info.st_ctim);
  return {{info.st_dev, info.st_ino}, std::move(sum)};
}

std::optional<StampedFile> stamp_of(const fs::path& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return stamp_of(info);
}

base::Result<Copied> read_through(const fs::path& source, uint64_t max_bytes, const Listener& listener) {
  return read_in_steps(source, max_bytes, [&](std::string_view bytes) -> base::Result<void> {
    listener(bytes);
    return {};
  });
}

base::Result<Copied> FolderWriter::copy_into_run(const fs::path& source, const fs::path& working,
                                                 const fs::path& relative, uint64_t max_bytes,
                                                 const Listener& listener) {
  SummedFile copy(working / relative);
  auto copied = read_in_steps(source, max_bytes, [&](std::string_view bytes) {
    listener(bytes);
    return copy.add(bytes);
  });
  if (!copied) return copied;
  if (auto ended = copy.end(known_); !ended) return tl::unexpected<base::Error>(ended.error());
  return copied;
}

base::Result<void> FolderWriter::put_into_run(std::string_view content, const fs::path& working,
                                              const fs::path& relative) {
  SummedFile file(working / relative);
  if (auto added = file.add(content); !added) return added;
  return file.end(known_);
}

}  // namespace rollcall::evidence
