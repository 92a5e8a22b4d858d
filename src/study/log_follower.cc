// See log_follower.h. The file is opened anew each time: a run may have thousands
// of logs, and a descriptor for each would be one more limit of the machine.
#include "study/log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/fd.h"

namespace rollcall::study {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kRememberedBytes = 64;

ssize_t read_some(int fd, char* buffer, size_t size, uint64_t offset) {
  for (;;) {
    const ssize_t got = pread(fd, buffer, size, static_cast<off_t>(offset));
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace

LogFollower::State LogFollower::follow() {
  if (truncated_) return State::kTruncated;
  // Not blocking: opening a FIFO would wait for its writer for ever.
  const base::Fd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return errno == ENOENT ? State::kMissing : State::kUnreadable;
  struct stat info {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return State::kUnreadable;
  const auto size_bytes = static_cast<uint64_t>(info.st_size);
  if (!same_file(fd.get(), info.st_dev, info.st_ino, size_bytes)) {
    truncated_ = true;
    return State::kTruncated;
  }
  const uint64_t end = std::min(size_bytes, offset_ + kMaxBytesAtOnce);
  std::vector<char> buffer(static_cast<size_t>(std::min<uint64_t>(kChunkBytes, end - offset_)));
  while (offset_ < end) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(buffer.size(), end - offset_));
    const ssize_t got = read_some(fd.get(), buffer.data(), wanted, offset_);
    if (got < 0) return State::kUnreadable;
    if (got == 0) {
      truncated_ = true;
      return State::kTruncated;
    }
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    offset_ += bytes.size();
    last_bytes_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kRememberedBytes)));
    if (last_bytes_.size() > kRememberedBytes) last_bytes_.erase(0, last_bytes_.size() - kRememberedBytes);
    take(bytes);
  }
  return end < size_bytes ? State::kBehind : State::kWhole;
}

// Whether it still is the file that was read before, with what was read in it.
bool LogFollower::same_file(int fd, dev_t device, ino_t inode, uint64_t size_bytes) {
  if (!opened_) {
    opened_ = true;
    device_ = device;
    inode_ = inode;
    return true;
  }
  if (device != device_ || inode != inode_ || size_bytes < offset_) return false;
  char now[kRememberedBytes];
  const size_t size = last_bytes_.size();
  return size == 0 || (read_some(fd, now, size, offset_ - size) == static_cast<ssize_t>(size) &&
                       std::equal(last_bytes_.begin(), last_bytes_.end(), now));
}

void LogFollower::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(whole ? end + 1 : bytes.size());
    if (partial_.size() + piece.size() > kMaxLineBytes) skipping_ = true;
    if (skipping_) {
      partial_.clear();
    } else if (!whole || !partial_.empty()) {
      partial_.append(piece);
    }
    if (!whole) return;
    if (!skipping_) hear(partial_.empty() ? piece : std::string_view(partial_));
    partial_.clear();
    skipping_ = false;
  }
}

void LogFollower::hear(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto heard = interpret_(line);
  if (!heard) return;
  const auto known = last_.find(heard->own_pid);
  if (known == last_.end()) {
    if (last_.size() < kMaxSpeakers) {
      last_.emplace(heard->own_pid, heard->statement);
    } else {
      has_forgotten_ = true;
    }
    return;
  }
  const bool cause_named = known->second.says == Statement::Says::kFailed;
  if (!(heard->statement.general && cause_named)) known->second = heard->statement;
}

const Statement* LogFollower::last_of(int64_t own_pid) const {
  const auto found = last_.find(own_pid);
  return found == last_.end() ? nullptr : &found->second;
}

}  // namespace rollcall::study
