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
// Copied at a time inside the kernel: few calls, and still in memory when it is read.
constexpr uint64_t kStretchBytes = uint64_t{8} << 20;

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
        fd_(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode)),
        error_(fd_.valid() ? 0 : errno) {}

  [[nodiscard]] base::Result<void> made() const {
    if (!fd_.valid()) return base::system_failure(path_.string(), "create", error_);
    return {};
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const fs::path& path() const { return path_; }

  base::Result<void> add(std::string_view bytes) {
    sum_.add(bytes);
    return write_all(fd_.get(), bytes, path_);
  }
  // Of bytes that stand in the file already.
  void add_sum(std::string_view bytes) { sum_.add(bytes); }

  base::Result<void> end(KnownSums& known) {
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

// A regular file that is read to the size that it had when it was opened.
class Source {
 public:
  static base::Result<Source> open_file(const fs::path& path, uint64_t max_bytes) {
    // Not blocking: opening a FIFO would wait for its writer for ever.
    Source source(path, base::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)));
    if (!source.fd_.valid()) return base::system_failure(path.string(), "open", errno);
    if (fstat(source.fd(), &source.before_) != 0)
      return base::system_failure(path.string(), "examine", errno);
    if (!S_ISREG(source.before_.st_mode)) {
      return base::failure(path.string(), "expected a regular file, found something else");
    }
    if (source.size() > max_bytes) {
      return base::usage_error(
          path.string(),
          fmt::format("{} bytes, more than the {} that are read of a file", source.size(), max_bytes));
    }
    return source;
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] uint64_t size() const { return static_cast<uint64_t>(before_.st_size); }
  // After `bytes` of it were read.
  base::Result<Copied> ended(uint64_t bytes) const {
    struct stat after {};
    if (fstat(fd(), &after) != 0) return base::system_failure(path_.string(), "examine", errno);
    const bool changed =
        bytes != size() || after.st_size != before_.st_size || ns_of(after.st_mtim) != ns_of(before_.st_mtim);
    return Copied{bytes, changed};
  }

 private:
  Source(fs::path path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  fs::path path_;
  base::Fd fd_;
  struct stat before_ {};
};

using Step = std::function<base::Result<void>(std::string_view)>;

// The bytes from `from` to `to`, in pieces; how far it came, which is less if the file ended.
base::Result<uint64_t> read_range(int fd, const fs::path& path, uint64_t from, uint64_t to, char* piece,
                                  const Step& step) {
  while (from < to) {
    const ssize_t got =
        pread(fd, piece, std::min<uint64_t>(kPieceBytes, to - from), static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::system_failure(path.string(), "read", errno);
    if (got == 0) break;
    if (auto done = step({piece, static_cast<size_t>(got)}); !done)
      return tl::unexpected<base::Error>(done.error());
    from += static_cast<uint64_t>(got);
  }
  return from;
}

// Appends the next stretch inside the kernel, which is faster than writing what was read.
// 0: there is no more, or this cannot be done here; then the bytes are written as any others.
base::Result<uint64_t> copy_stretch(const Source& source, const SummedFile& copy, uint64_t at) {
  auto in = static_cast<off64_t>(at);
  auto out = static_cast<off64_t>(at);
  const size_t wanted = std::min<uint64_t>(kStretchBytes, source.size() - at);
  const ssize_t got = copy_file_range(source.fd(), &in, copy.fd(), &out, wanted, 0);
  if (got >= 0) return static_cast<uint64_t>(got);
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
    return base::system_failure(copy.path().string(), "copy", errno);
  return 0;
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

base::Result<Copied> read_through(const fs::path& path, uint64_t max_bytes, const Listener& listener) {
  const auto source = Source::open_file(path, max_bytes);
  if (!source) return tl::unexpected<base::Error>(source.error());
  const auto piece = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  const auto read = read_range(source->fd(), path, 0, source->size(), piece.get(),
                               [&](std::string_view bytes) -> base::Result<void> {
                                 listener(bytes);
                                 return {};
                               });
  if (!read) return tl::unexpected<base::Error>(read.error());
  return source->ended(*read);
}

base::Result<Copied> FolderWriter::copy_into_run(const fs::path& path, const fs::path& working,
                                                 const fs::path& relative, uint64_t max_bytes,
                                                 const Listener& listener) {
  const auto source = Source::open_file(path, max_bytes);
  if (!source) return tl::unexpected<base::Error>(source.error());
  SummedFile copy(working / relative);
  if (auto made = copy.made(); !made) return tl::unexpected<base::Error>(made.error());
  const auto piece = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  // Heard and summed is what stands in the copy: the source may be written to meanwhile.
  const Step hear_copy = [&](std::string_view bytes) -> base::Result<void> {
    listener(bytes);
    copy.add_sum(bytes);
    return {};
  };
  uint64_t at = 0;
  while (at < source->size()) {
    const auto copied = copy_stretch(*source, copy, at);
    if (!copied) return tl::unexpected<base::Error>(copied.error());
    if (*copied == 0) break;
    const auto read = read_range(copy.fd(), copy.path(), at, at + *copied, piece.get(), hear_copy);
    if (!read) return tl::unexpected<base::Error>(read.error());
    if (*read != at + *copied)
      return base::failure(copy.path().string(), "the copy was cut short by somebody");
    at = *read;
  }
  if (at < source->size()) {
    if (lseek(copy.fd(), static_cast<off_t>(at), SEEK_SET) < 0)
      return base::system_failure(copy.path().string(), "seek", errno);
    const auto read =
        read_range(source->fd(), path, at, source->size(), piece.get(), [&](std::string_view bytes) {
          listener(bytes);
          return copy.add(bytes);
        });
    if (!read) return tl::unexpected<base::Error>(read.error());
    at = *read;
  }
  if (auto ended = copy.end(known_); !ended) return tl::unexpected<base::Error>(ended.error());
  return source->ended(at);
}

base::Result<void> FolderWriter::put_into_run(std::string_view content, const fs::path& working,
                                              const fs::path& relative) {
  SummedFile file(working / relative);
  if (auto made = file.made(); !made) return made;
  if (auto added = file.add(content); !added) return added;
  return file.end(known_);
}

}  // namespace rollcall::evidence
