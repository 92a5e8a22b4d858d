// See temporary_folder.h.
#include "archive/temporary_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace rollcall::archive {
namespace fs = std::filesystem;

// An archive can hold folders that its user may not enter; they are the user's own all the same.
void make_accessible(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
  std::error_code error;
  for (auto walk = fs::directory_iterator(folder, error); !error && walk != fs::directory_iterator();
       walk.increment(error)) {
    const fs::file_status status = walk->symlink_status(ignored);
    if (fs::is_directory(status)) make_accessible(walk->path());
    if (fs::is_regular_file(status)) {
      fs::permissions(walk->path(), fs::perms::owner_read, fs::perm_options::add, ignored);
    }
  }
}

namespace {

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  make_accessible(folder);
  fs::remove_all(folder, error);
}

// What the guardian says first: the folder, or why there is none.
struct Made {
  int error = 0;
  char path[PATH_MAX] = {};
};

// The guardian makes the folder itself: so there is no moment at which it exists and nobody would
// remove it. Then it sleeps until nobody holds the other end of `alive`, and holds nothing meanwhile
// that somebody else waits for.
[[noreturn]] void guard(const std::string& pattern, int tell, int alive) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(signal_number, SIG_IGN);
  // Not in the group of its parent, which may be killed as a whole.
  setsid();
  Made made;
  pattern.copy(made.path, sizeof made.path - 1);
  // Whatever the umask is: it is this user's alone, and usable.
  if (mkdtemp(made.path) == nullptr || chmod(made.path, S_IRWXU) != 0) made.error = errno;
  const bool told = write(tell, &made, sizeof made) == ssize_t{sizeof made};
  if (made.error != 0) _exit(0);
  dup2(alive, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, ~0U, 0);
  char byte = 0;
  while (told && read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  remove_folder(made.path);
  _exit(0);
}

base::Result<Made> hear(int tell) {
  Made made;
  size_t heard = 0;
  while (heard < sizeof made) {
    const ssize_t got = read(tell, reinterpret_cast<char*>(&made) + heard, sizeof made - heard);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::failure("fork", "the process that guards the temporary folder ended");
    heard += static_cast<size_t>(got);
  }
  return made;
}

}  // namespace

base::Result<TemporaryFolder> TemporaryFolder::make() {
  const std::string advice = "set TMPDIR to a folder that you may write to";
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error)
    return base::system_failure("TMPDIR", "find a folder for temporary files", error.value(), advice);
  const std::string pattern = (parent / "rollcall-archive-XXXXXX").string();
  if (pattern.size() >= PATH_MAX) return base::usage_error("TMPDIR", "the path is too long", advice);
  int alive[2] = {-1, -1};
  int tell[2] = {-1, -1};
  if (pipe2(alive, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  const base::Fd their_alive(alive[0]);
  TemporaryFolder folder;
  folder.alive_.reset(alive[1]);
  if (pipe2(tell, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
  const base::Fd our_tell(tell[0]);
  base::Fd their_tell(tell[1]);
  folder.guardian_ = fork();
  if (folder.guardian_ < 0) return base::system_failure("fork", "start a process", errno);
  if (folder.guardian_ == 0) guard(pattern, their_tell.get(), their_alive.get());
  their_tell.reset();
  const auto made = hear(our_tell.get());
  if (!made) return tl::unexpected<base::Error>(made.error());
  if (made->error != 0) return base::system_failure(pattern, "make a temporary folder", made->error, advice);
  folder.path_ = made->path;
  return folder;
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
  if (!path_.empty()) remove_folder(path_);
  path_.clear();
  alive_.reset();
  if (guardian_ <= 0) return;
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guardian_ = -1;
}

}  // namespace rollcall::archive
