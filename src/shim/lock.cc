// See lock.h for why the lock and the waiting are two different things.
#include "shim/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"

namespace rollcall::shim {
namespace {

// With a wake word a waiter is woken at every release, and looks again by
// itself only in case the holder died; without one it must poll. Many hundreds
// may wait at once, so the former is slow.
constexpr int64_t kLookAgainNs = 200 * base::kNsPerMs;
constexpr int64_t kPollNs = base::kNsPerMs / 2;

constexpr off_t kNodeLockSizeBytes = 4096;
constexpr mode_t kNodeLockMode = 0666;  // the umask decides

int set_lock(int fd, int64_t byte, short type) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = byte;
  request.l_len = 1;
  int result = 0;
  do {
    result = fcntl(fd, F_SETLK, &request);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

// A node lock is an empty file, or zeroes behind the word; anything else is
// somebody's, and is not ours to count in.
bool is_node_lock(int fd, off_t size_bytes) {
  if (size_bytes == 0) return true;
  if (size_bytes != kNodeLockSizeBytes) return false;
  unsigned char bytes[kNodeLockSizeBytes];
  ssize_t got = 0;
  do {
    got = pread(fd, bytes, sizeof bytes, 0);
  } while (got < 0 && errno == EINTR);
  if (got != kNodeLockSizeBytes) return false;
  for (size_t i = sizeof(uint32_t); i < sizeof bytes; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

}  // namespace

FileLock::Result FileLock::acquire(int64_t deadline_ns) {
  for (;;) {
    const uint32_t seen = wake_ != nullptr ? wake_->load(std::memory_order_acquire) : 0;
    const int error = set_lock(fd_, byte_, F_WRLCK);
    if (error == 0) {
      held_ = true;
      return Result::kAcquired;
    }
    if (error != EAGAIN && error != EACCES) return Result::kFailed;
    const int64_t left_ns = deadline_ns - base::monotonic_ns();
    if (left_ns <= 0) return Result::kTimeout;
    if (wake_ != nullptr) {
      base::futex_wait(wake_, seen, left_ns < kLookAgainNs ? left_ns : kLookAgainNs);
    } else {
      const timespec pause = base::to_timespec(left_ns < kPollNs ? left_ns : kPollNs);
      nanosleep(&pause, nullptr);
    }
  }
}

void FileLock::release() {
  if (!held_) return;
  held_ = false;
  set_lock(fd_, byte_, F_UNLCK);
  if (wake_ == nullptr) return;
  // Bumped after the unlocking: who read the old value before and failed to
  // lock finds a new one and does not go to sleep.
  wake_->fetch_add(1, std::memory_order_acq_rel);
  base::futex_wake(wake_, 1);
}

bool file_size_allowed(uint64_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

bool NodeLockFile::open(const char* path) {
  fd_.reset(::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kNodeLockMode));
  if (!fd_.valid()) return false;
  struct statx info {};
  if (statx(fd_.get(), "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &info) != 0 || !S_ISREG(info.stx_mode))
    return false;
  if (!is_node_lock(fd_.get(), static_cast<off_t>(info.stx_size))) return false;
  // Setting the size twice is harmless, so two makers need no lock of their own.
  if (posix_fallocate(fd_.get(), 0, kNodeLockSizeBytes) != 0) return false;
  void* memory = mmap(nullptr, static_cast<size_t>(kNodeLockSizeBytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                      fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  wake_ = static_cast<std::atomic<uint32_t>*>(memory);
  return true;
}

NodeLockFile::~NodeLockFile() {
  if (wake_ != nullptr) munmap(static_cast<void*>(wake_), static_cast<size_t>(kNodeLockSizeBytes));
}

}  // namespace rollcall::shim
