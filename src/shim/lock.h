// A lock between processes, on one byte of a file, with a deadline.
//
// The lock itself is a POSIX record lock (F_SETLK): the kernel drops it when its
// owner dies, however it dies; a forked child does not inherit it; and it means
// the same in every PID namespace, which a robust mutex (it stores a thread id)
// does not. What record locks lack is a wait with a deadline, so the waiting is
// done on a futex word in shared memory that every release bumps; a holder that
// died bumped nothing, so waiters also look again by themselves from time to time.
//
// A record lock does not exclude the threads of one process: the caller does.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fd.h"

namespace rollcall::shim {

class FileLock {
 public:
  enum class Result { kAcquired, kTimeout, kFailed };

  // Which byte of the file stands for what.
  static constexpr int64_t kDiscoveryByte = 0;
  static constexpr int64_t kSetupByte = 1;

  // `wake` may be null: then waiters only poll. fd and wake must outlive the lock.
  FileLock(int fd, int64_t byte, std::atomic<uint32_t>* wake) : fd_(fd), byte_(byte), wake_(wake) {}
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { release(); }

  Result acquire(int64_t deadline_ns);  // CLOCK_MONOTONIC
  void release();

 private:
  int fd_;
  int64_t byte_;
  std::atomic<uint32_t>* wake_;
  bool held_ = false;
};

// Whether a file of this process may grow to `size`: beyond RLIMIT_FSIZE the kernel
// would end the host with SIGXFSZ.
bool file_size_allowed(uint64_t size);

// A lock file for the whole node: the lock and the futex word in one small file.
class NodeLockFile {
 public:
  NodeLockFile() = default;
  NodeLockFile(const NodeLockFile&) = delete;
  NodeLockFile& operator=(const NodeLockFile&) = delete;
  ~NodeLockFile();

  // Opens or makes the file. False if it cannot, or if the file holds something else.
  bool open(const char* path);
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::atomic<uint32_t>* wake() { return wake_; }

 private:
  base::Fd fd_;
  std::atomic<uint32_t>* wake_ = nullptr;
};

}  // namespace rollcall::shim
