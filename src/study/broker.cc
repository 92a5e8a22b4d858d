// See broker.h. It serves once its socket is there and it has said so in its log; what it
// says before it ends instead is the reason that the user is told.
#include "study/broker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/files.h"
#include "base/process.h"

namespace rollcall::study {
namespace {

constexpr const char* kSocketName = "broker.sock";
constexpr size_t kMaxSocketPath = 107;
constexpr int64_t kReadyDeadlineNs = 10 * base::kNsPerSecond;
constexpr int64_t kStopDeadlineNs = 5 * base::kNsPerSecond;
constexpr long kPauseNs = 2'000'000;
constexpr size_t kMaxLogBytes = 64 << 10;

bool ends(const base::Fd& pidfd, int64_t deadline_ns) {
  for (;;) {
    const int64_t left_ms = (deadline_ns - base::monotonic_ns()) / base::kNsPerMs;
    pollfd wait{pidfd.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, left_ms > 0 ? static_cast<int>(left_ms) : 0);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool fits(const std::filesystem::path& folder) {
  return (folder / kSocketName).string().size() <= kMaxSocketPath;
}

// That only this user can enter. Beside the run where that is short enough for a socket:
// there it is found and removed even if we are killed.
base::Result<std::filesystem::path> make_folder(const std::filesystem::path& scratch) {
  std::error_code error;
  const std::filesystem::path beside = std::filesystem::canonical(scratch, error) / "broker";
  if (!error && fits(beside)) {
    if (mkdir(beside.c_str(), 0700) == 0) return beside;
    return base::system_failure(beside.string(), "make the broker's folder", errno);
  }
  const char* preferred = std::getenv("TMPDIR");
  for (const std::string& parent :
       {std::string(preferred != nullptr ? preferred : ""), std::string("/tmp")}) {
    const std::filesystem::path real = parent.empty() ? "" : std::filesystem::canonical(parent, error);
    std::string folder = (real / "rollcall-broker-XXXXXX").string();
    if (parent.empty() || error || !fits(folder)) continue;
    if (mkdtemp(folder.data()) != nullptr) return std::filesystem::path(folder);
  }
  return base::system_failure("/tmp", "make a private folder for the broker", errno,
                              "set TMPDIR to a folder that you may write to");
}

// The last whole line, which is where a program says why it ends.
std::string last_line(const std::filesystem::path& log) {
  std::string text = base::read_file(log, kMaxLogBytes).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

bool serves(const std::filesystem::path& socket, const std::filesystem::path& log) {
  struct stat info {};
  if (lstat(socket.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const auto said = base::read_file(log, kMaxLogBytes);
  return said && said->find('\n') != std::string::npos;
}

bool is_tiered(const Arm& arm) {
  return arm.own_shim && arm.discovery == "tiered";
}

bool launcher_is_elsewhere() {
  return base::own_pid_namespace_inode() != base::kInitialPidNamespaceInode;
}

}  // namespace

bool needs_broker(const Plan& plan, const Arm& arm) {
  if (plan.broker) return true;
  return is_tiered(arm) && plan.node == evidence::NodeKind::kSimulated && launcher_is_elsewhere();
}

bool needs_broker(const Plan& plan) {
  return std::any_of(plan.arms.begin(), plan.arms.end(), [&](const std::string& name) {
    const auto arm = find_arm(name, plan.shims, "");
    return arm && needs_broker(plan, *arm);
  });
}

std::filesystem::path Broker::socket() const {
  return folder_ / kSocketName;
}

base::Result<Broker> Broker::start(const BrokerOptions& options, const EnvironmentBlock& environment) {
  const base::Fd log(open(options.log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!log.valid()) return base::system_failure(options.log.string(), "create", errno);
  const auto folder = make_folder(options.scratch);
  if (!folder) return tl::unexpected(folder.error());

  std::vector<std::string> words = {"hostpidd", "--socket-dir", folder->string(), "--view",
                                    std::string(evidence::to_text(options.view))};
  if (options.namespace_is_host) words.emplace_back("--namespace-is-host");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  SpawnRequest request;
  request.program = options.program.c_str();
  request.arguments = arguments.data();
  request.environment = environment.get();
  request.output_fd = log.get();
  auto child = spawn(request);
  Broker broker(child ? std::move(*child) : Child{}, *folder);  // from here on it cleans up
  if (!child) return tl::unexpected(child.error());

  const int64_t deadline_ns = base::monotonic_ns() + kReadyDeadlineNs;
  while (!ends(broker.child_.pidfd, 0) && base::monotonic_ns() < deadline_ns) {
    if (serves(broker.socket(), options.log)) return broker;
    const timespec pause{0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
  const std::string said = last_line(options.log);
  return base::failure("the broker",
                       fmt::format("{}: {}",
                                   ends(broker.child_.pidfd, 0) ? "ended before it served"
                                                                : "did not serve within ten seconds",
                                   said.empty() ? "it did not say why" : said));
}

Broker::~Broker() {
  (void)stop();
}

base::Result<void> Broker::stop() {
  bool ended_before = false;
  if (child_.pidfd.valid()) {
    ended_before = ends(child_.pidfd, 0);
    base::signal_pidfd(child_.pidfd.get(), SIGTERM);
    if (!ends(child_.pidfd, base::monotonic_ns() + kStopDeadlineNs)) {
      base::signal_pidfd(child_.pidfd.get(), SIGKILL);
    }
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED) != 0 && errno == EINTR) {
    }
    child_.pidfd.reset();
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  folder_.clear();
  if (ended_before) return base::failure("the broker", "ended by itself while workers were running");
  return {};
}

}  // namespace rollcall::study
