// The life of a node: it starts or says why not, and leaves nothing behind,
// however it ends.
#include <sys/resource.h>
#include <sys/stat.h>

#include "simgpu_support.h"

namespace rollcall::simgpu::test {
namespace {

namespace fs = std::filesystem;

SessionOptions options() {
  SessionOptions result;
  result.simgpud = TEST_SIMGPUD;
  result.library_dir = TEST_SIM_DIR;
  result.profile_file = TEST_PROFILE_DIR "/instant.toml";
  return result;
}

fs::path socket_of(const Session& session) {
  for (const auto& [name, value] : session.environment("")) {
    if (name == "ROLLCALL_SIM_SOCKET") return value;
  }
  return {};
}

bool has_ended(int pidfd, int timeout_ms = 0) {
  pollfd poll_for{pidfd, POLLIN, 0};
  return poll(&poll_for, 1, timeout_ms) == 1;
}

TEST(Session, ServesInAFolderOfThisUserOnly) {
  auto session = Session::start(options());
  ASSERT_TRUE(session) << session.error().line();
  struct stat info {};
  ASSERT_EQ(stat(socket_of(*session).parent_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ASSERT_EQ(stat(socket_of(*session).c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0077, 0U);
  EXPECT_FALSE(has_ended(session->pidfd()));
}

TEST(Session, PutsTheStandInsBeforeTheInheritedPath) {
  const auto session = Session::start(options());
  ASSERT_TRUE(session);
  EXPECT_EQ(session->environment("")[0],
            std::make_pair(std::string("LD_LIBRARY_PATH"), std::string(TEST_SIM_DIR)));
  EXPECT_EQ(session->environment("/opt/lib:/x")[0].second, std::string(TEST_SIM_DIR) + ":/opt/lib:/x");
}

TEST(Session, LeavesNothingBehind) {
  fs::path folder;
  {
    auto session = Session::start(options());
    ASSERT_TRUE(session);
    folder = socket_of(*session).parent_path();
    const int pidfd = dup(session->pidfd());
    session->stop();
    EXPECT_TRUE(has_ended(pidfd));
    EXPECT_FALSE(fs::exists(folder));
    session->stop();  // twice is once
    close(pidfd);
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Session, IsMovedWithItsNode) {
  auto first = Session::start(options());
  ASSERT_TRUE(first);
  const fs::path socket = socket_of(*first);
  Session second = std::move(*first);
  EXPECT_TRUE(fs::exists(socket));
  auto third = Session::start(options());
  ASSERT_TRUE(third);
  second = std::move(*third);  // ends the first node
  EXPECT_FALSE(fs::exists(socket));
  EXPECT_FALSE(has_ended(second.pidfd()));
}

TEST(Session, CleansUpAfterAKilledDaemon) {
  auto session = Session::start(options());
  ASSERT_TRUE(session);
  const fs::path folder = socket_of(*session).parent_path();
  kill(session->pid(), SIGKILL);
  EXPECT_TRUE(has_ended(session->pidfd(), kPatienceMs));
  EXPECT_TRUE(fs::exists(folder));
  session->stop();
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Session, EndsAStoppedDaemonToo) {
  auto session = Session::start(options());
  ASSERT_TRUE(session);
  const fs::path folder = socket_of(*session).parent_path();
  kill(session->pid(), SIGSTOP);
  const int64_t start_ns = base::monotonic_ns();
  session->stop();
  EXPECT_LT(base::monotonic_ns() - start_ns, 60 * base::kNsPerSecond);
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Session, TheDaemonEndsWithItsLauncher) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Child launcher([&] {
    auto session = Session::start(options());
    ASSERT_TRUE(session);
    const std::string socket = socket_of(*session).string();
    EXPECT_EQ(write(ends[1], socket.data(), socket.size()), static_cast<ssize_t>(socket.size()));
    pause();
  });
  char socket[256] = {};
  ASSERT_GT(read(ends[0], socket, sizeof socket - 1), 0);
  EXPECT_TRUE(fs::exists(socket));
  launcher.kill_now();
  EXPECT_TRUE(eventually([&] { return !fs::exists(fs::path(socket).parent_path()); }));
  close(ends[0]);
  close(ends[1]);
}

TEST(Session, EndsOnSigtermAndCleansUpByItself) {
  for (const int signal : {SIGTERM, SIGINT}) {
    auto session = Session::start(options());
    ASSERT_TRUE(session);
    const fs::path folder = socket_of(*session).parent_path();
    kill(session->pid(), signal);
    EXPECT_TRUE(has_ended(session->pidfd(), kPatienceMs));
    EXPECT_FALSE(fs::exists(folder));
  }
}

TEST(Session, ItsDaemonIsOutOfReachOfTheTerminalsSignals) {
  const auto session = Session::start(options());
  ASSERT_TRUE(session);
  EXPECT_EQ(getpgid(session->pid()), session->pid());
}

TEST(Session, HandsItsTimeScaleAndGpusOn) {
  const fs::path file = fs::temp_directory_path() / ("simgpu-test-" + std::to_string(getpid()) + ".toml");
  std::ofstream(file) << profile_text("[cost.cuinit]\nparallel_ms = 60000\n");
  auto fast = options();
  fast.profile_file = file;
  fast.time_scale = 0.001;
  fast.gpus = 3;
  const auto session = Session::start(fast);
  fs::remove(file);
  ASSERT_TRUE(session) << session.error().line();
  in_child([&] {
    for (const auto& [name, value] : session->environment("")) setenv(name.c_str(), value.c_str(), 1);
    const Driver driver;
    const int64_t start_ns = base::monotonic_ns();
    EXPECT_EQ(driver.cuInit(0), gpu::kCudaSuccess);
    const int64_t took_ns = base::monotonic_ns() - start_ns;
    EXPECT_GE(took_ns, 60 * base::kNsPerMs);
    EXPECT_LT(took_ns, 30 * base::kNsPerSecond);  // a minute if it were not scaled
    int count = 0;
    EXPECT_EQ(driver.cuDeviceGetCount(&count), gpu::kCudaSuccess);
    EXPECT_EQ(count, 3);
  });
}

std::string start_error(const SessionOptions& wrong) {
  const auto session = Session::start(wrong);
  return session ? "(no error)" : session.error().line();
}

TEST(Session, SaysWhyItDoesNotStart) {
  auto wrong = options();
  wrong.simgpud = "/nowhere/simgpud";
  EXPECT_NE(start_error(wrong).find("/nowhere/simgpud: cannot run"), std::string::npos) << start_error(wrong);
  wrong = options();
  wrong.library_dir = "/nowhere";
  EXPECT_NE(start_error(wrong).find("/nowhere/libcuda.so.1: cannot read"), std::string::npos)
      << start_error(wrong);
  wrong = options();
  wrong.view = evidence::NvmlView::kUnknown;
  EXPECT_NE(start_error(wrong).find("--view"), std::string::npos);
  wrong = options();
  wrong.time_scale = -1;
  EXPECT_NE(start_error(wrong).find("--time-scale: expected a number from 0 to 1000, found -1"),
            std::string::npos);
  wrong = options();
  wrong.gpus = 17;
  EXPECT_NE(start_error(wrong).find("--gpus: a simulated node has 0 to 16 GPUs, found 17"),
            std::string::npos);
  wrong = options();
  wrong.max_clients = 100'000;
  EXPECT_NE(start_error(wrong).find("at most 65536 processes, found 100000"), std::string::npos);
  // What the daemon finds wrong comes back as its own words.
  wrong = options();
  wrong.profile_file = "/nowhere/profile.toml";
  EXPECT_NE(start_error(wrong).find("/nowhere/profile.toml: cannot open"), std::string::npos)
      << start_error(wrong);
  wrong = options();
  wrong.simgpud = "/bin/true";
  EXPECT_NE(start_error(wrong).find("ended before it was ready"), std::string::npos) << start_error(wrong);
}

TEST(Session, NamesTheLimitThatIsTooLow) {
  in_child([] {
    const rlimit low{256, 256};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    auto many = options();
    many.max_clients = 1000;
    const std::string error = start_error(many);
    EXPECT_NE(error.find("needs 3128 open files for 1000 clients, but the hard limit is 256"),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("ulimit -n 3128"), std::string::npos);
    // Without a wish it takes what there is.
    EXPECT_EQ(start_error(options()), "(no error)");
  });
}

}  // namespace
}  // namespace rollcall::simgpu::test
