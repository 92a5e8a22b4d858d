// See tar.h. Its complaints go into a memory file, because a pipe that nobody reads
// meanwhile would stop it.
#include "archive/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

extern char** environ;

namespace rollcall::archive {
namespace {

constexpr const char* kProgram = "tar";

// TAR_OPTIONS would change what is packed, a locale the language of the complaints.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view text(*at);
    if (text.starts_with("TAR_OPTIONS=") || text.starts_with("LC_") || text.starts_with("LANG")) continue;
    if (text.starts_with("LD_PRELOAD=")) continue;
    variables.emplace_back(text);
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::string first_line(int fd) {
  constexpr size_t kMaxBytes = 512;
  char buffer[kMaxBytes];
  const ssize_t got = pread(fd, buffer, sizeof buffer, 0);
  std::string_view text(buffer, got > 0 ? static_cast<size_t>(got) : 0);
  constexpr std::string_view kItsName = "tar: ";
  if (text.starts_with(kItsName)) text.remove_prefix(kItsName.size());
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

base::Result<Tar> Tar::start(const std::vector<std::string>& arguments, Stream direction, base::Fd input) {
  // A socket rather than a pipe: send(2) can be told not to raise SIGPIPE.
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::system_failure(kProgram, "connect to it", errno);
  }
  base::Fd ours(ends[0]);
  const base::Fd theirs(ends[1]);
  base::Fd errors(memfd_create("tar-errors", MFD_CLOEXEC));
  const base::Fd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!errors.valid() || !nothing.valid()) return base::system_failure(kProgram, "prepare it", errno);

  std::vector<std::string> words = {kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const bool reads = direction == Stream::kToTar;
  posix_spawn_file_actions_adddup2(
      &actions, reads ? theirs.get() : (input.valid() ? input.get() : nothing.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, reads ? nothing.get() : theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, kProgram, &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return base::failure(kProgram, "GNU tar is not installed", "install it (Debian: apt-get install tar)");
  }
  if (error != 0) return base::system_failure(kProgram, "start it", error);
  return Tar(pid, std::move(ours), std::move(errors));
}

Tar::Tar(Tar&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      stream_(std::move(other.stream_)),
      errors_(std::move(other.errors_)) {}

Tar::~Tar() {
  if (pid_ <= 0) return;
  stream_.reset();
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Result<void> Tar::wait() {
  stream_.reset();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) return base::system_failure(kProgram, "wait for it", errno);
  }
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string said = first_line(errors_.get());
  return base::failure(kProgram, said.empty() ? "it failed and did not say why" : said);
}

}  // namespace rollcall::archive
