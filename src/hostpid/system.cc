// Tier 1 rests on read_namespace: the first PID namespace of a kernel always has the
// same inode (base/process.h), and /proc/self/ns/pid is our own whichever procfs is
// mounted. That it is the kernel's own file, and not one that somebody laid there, its
// filesystem says.
#include "hostpid/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"

namespace rollcall::hostpid {
namespace {

// The first time namespace (PROC_TIME_INIT_INO, include/linux/proc_ns.h). In another,
// start times are shifted in what /proc shows.
constexpr uint64_t kInitialTimeNamespaceInode = 4026531834ULL;

uint64_t namespace_inode(const char* path) {
  const base::Fd fd(open(path, O_RDONLY | O_CLOEXEC));
  struct statfs filesystem {};
  struct statx info {};
  if (!fd.valid() || fstatfs(fd.get(), &filesystem) != 0 || filesystem.f_type != NSFS_MAGIC) return 0;
  return statx(fd.get(), "", AT_EMPTY_PATH, STATX_INO, &info) == 0 ? info.stx_ino : 0;
}

void read_namespace(void* /*self*/, SelfFacts* facts) {
  facts->own_pid = getpid();
  facts->pid_namespace = namespace_inode("/proc/self/ns/pid");
  facts->in_initial_pid_namespace = facts->pid_namespace == base::kInitialPidNamespaceInode;
}

void read_rest(void* /*self*/, SelfFacts* facts) {
  const uint64_t time_namespace = namespace_inode("/proc/self/ns/time");
  // A kernel without time namespaces (before 5.6) has no such file, and shifts nothing.
  const bool shifted = time_namespace != 0 && time_namespace != kInitialTimeNamespaceInode;
  facts->start_time = shifted ? 0 : base::own_start_time();
}

int64_t now_ns(void* /*self*/) {
  return base::monotonic_ns();
}

void sleep_ns(void* /*self*/, int64_t ns) {
  timespec left = base::to_timespec(ns);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

bool fill(void* /*self*/, void* bytes, size_t size) {
  auto* at = static_cast<unsigned char*>(bytes);
  while (size > 0) {
    const ssize_t got = getrandom(at, size, GRND_NONBLOCK);
    if (got < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Clock system_clock() {
  return {nullptr, now_ns, sleep_ns};
}
RandomSource system_random() {
  return {nullptr, fill};
}
Kernel system_kernel() {
  return {nullptr, read_namespace, read_rest};
}

}  // namespace rollcall::hostpid
