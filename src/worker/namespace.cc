// rollcall-namespace: PID 1 of the namespaces that the workers of one cache live in. A PID
// namespace is alive as long as its first process is, and that cannot be a worker: one that
// ended would take all the others with it. So it is this program, which does nothing: it
// waits for its launcher to let go of the lifeline, and by its end the kernel ends whatever
// is left inside. A launcher that is killed lets go of it, too.
//
// What is orphaned inside becomes its child and not the launcher's, so it is the one to say
// whether processes outlived their workers. It is asked when all workers are reaped.
#include "worker/namespace.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/process.h"

namespace {

using namespace rollcall::worker;

// Others than ourselves that are not dead already.
int count_processes() {
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(directory)) {
    char* end = nullptr;
    const long pid = strtol(entry->d_name, &end, 10);
    if (pid <= 1 || *end != '\0') continue;
    const char state = rollcall::base::process_state(static_cast<pid_t>(pid));
    if (state != 0 && state != 'Z' && state != 'X') ++count;
  }
  closedir(directory);
  return count;
}

}  // namespace

int main() {
  if (getpid() != 1) {
    static const char message[] =
        "rollcall-namespace: is the first process of a PID namespace that rollcall makes, and of no use by "
        "itself; see rollcall run --isolate\n";
    return write(STDERR_FILENO, message, sizeof message - 1) < 0 ? kNoNamespace : kNoNamespace;
  }
  // The kernel then reaps what is orphaned to us by itself.
  signal(SIGCHLD, SIG_IGN);
  char byte = 0;
  while (read(kNamespaceLifelineFd, &byte, 1) < 0 && errno == EINTR) {
  }
  const int left = count_processes();
  if (left < 0) return kNotCounted;
  return left == 0 ? 0 : kProcessesLeft + (left < kMostCounted ? left : kMostCounted);
}
