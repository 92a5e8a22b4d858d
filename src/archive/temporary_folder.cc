// See temporary_folder.h.
#include "archive/temporary_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace rollcall::archive {
namespace {

namespace fs = std::filesystem;

// Sleeps until nobody holds the other end of `alive`, and holds nothing itself meanwhile: no
// stream that somebody waits for, no folder.
[[noreturn]] void guard(const fs::path& folder, int alive) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(signal_number, SIG_IGN);
  dup2(alive, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, ~0U, 0);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  _exit(0);
}

}  // namespace

base::Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return base::system_failure("TMPDIR", "find a folder for temporary files", error.value(),
                                "set TMPDIR to a folder that you may write to");
  }
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  const base::Fd theirs(ends[0]);
  TemporaryFolder made;
  made.alive_.reset(ends[1]);
  std::string name = (parent / "rollcall-archive-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return base::system_failure(name, "make a temporary folder", errno,
                                "set TMPDIR to a folder that you may write to");
  }
  made.path_ = name;
  made.guardian_ = fork();
  if (made.guardian_ < 0) return base::system_failure("fork", "start a process", errno);
  if (made.guardian_ == 0) guard(made.path_, theirs.get());
  return made;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      guardian_(std::exchange(other.guardian_, -1)),
      alive_(std::move(other.alive_)) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  guardian_ = std::exchange(other.guardian_, -1);
  alive_ = std::move(other.alive_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  remove();
}

void TemporaryFolder::remove() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  path_.clear();
  alive_.reset();
  if (guardian_ <= 0) return;
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guardian_ = -1;
}

}  // namespace rollcall::archive
