// A worker starts with exactly what it is meant to have: its descriptors where it
// expects them and no others, its environment, no blocked signal, a group of its
// own, and an end when its launcher ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <set>

#include "base/files.h"
#include "base/process.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "study/spawn.h"

namespace rollcall::study {
namespace {

using base::Fd;
using test::ForkedChild;

// Started by spawn(); killed and reaped at its end.
class Spawned {
 public:
  explicit Spawned(Child child) : child_(std::move(child)) {}
  Spawned(Spawned&& other) noexcept : child_(std::move(other.child_)) { other.child_.pid = -1; }
  Spawned& operator=(Spawned&&) = delete;
  ~Spawned() {
    if (child_.pid <= 0) return;
    kill(child_.pid, SIGKILL);
    waitpid(child_.pid, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return child_.pid; }
  [[nodiscard]] int pidfd() const { return child_.pidfd.get(); }
  [[nodiscard]] std::string proc(const std::string& name) const {
    return "/proc/" + std::to_string(child_.pid) + "/" + name;
  }

 private:
  Child child_;
};

class SpawnTest : public testing::Test {
 protected:
  void SetUp() override {
    // Whatever started this test may have left descriptors open; a launcher's own all close on exec.
    for (int fd = 3; fd < 256; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
    output_.reset(open_file("output"));
  }
  [[nodiscard]] int open_file(const std::string& name) const {
    return open((folder_.path() / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  [[nodiscard]] Spawned start(const std::vector<int>& inherited) const {
    static const char* const arguments[] = {"sleep", "1000", nullptr};
    auto child = spawn(
        {"/bin/sleep", const_cast<char* const*>(arguments), environment_.get(), output_.get(), inherited});
    EXPECT_TRUE(child) << child.error().line();
    if (!child) return Spawned(Child{});
    Spawned started(std::move(*child));
    // Under the thread sanitizer vfork is fork, and the exec may still be to come.
    const auto launcher = std::filesystem::read_symlink("/proc/self/exe");
    std::error_code error;
    EXPECT_TRUE(test::eventually(
        [&] { return std::filesystem::read_symlink(started.proc("exe"), error) != launcher && !error; }));
    return started;
  }
  static bool same_file(const std::string& path, const std::string& other) {
    struct stat a {};
    struct stat b {};
    return stat(path.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
  }

  test::TemporaryFolder folder_;
  Fd output_;
  EnvironmentBlock environment_{{{"A", "1"}, {"EMPTY", ""}, {"B", "x=y z"}}};
};

TEST_F(SpawnTest, DescriptorsStandFromThreeOnInTheirOrderAndNoOthers) {
  const Fd first(open_file("first"));
  const Fd second(open_file("second"));
  const Fd third(open_file("third"));
  const Spawned child = start({first.get(), second.get(), third.get()});
  EXPECT_TRUE(same_file(child.proc("fd/0"), "/dev/null"));
  EXPECT_TRUE(same_file(child.proc("fd/1"), folder_.path() / "output"));
  EXPECT_TRUE(same_file(child.proc("fd/2"), folder_.path() / "output"));
  EXPECT_TRUE(same_file(child.proc("fd/3"), folder_.path() / "first"));
  EXPECT_TRUE(same_file(child.proc("fd/4"), folder_.path() / "second"));
  EXPECT_TRUE(same_file(child.proc("fd/5"), folder_.path() / "third"));
  // Programs open more by themselves while they start, and close it again.
  EXPECT_TRUE(test::eventually([&] {
    std::set<std::string> open_ones;
    for (const auto& entry : std::filesystem::directory_iterator(child.proc("fd"))) {
      open_ones.insert(entry.path().filename());
    }
    return open_ones == std::set<std::string>{"0", "1", "2", "3", "4", "5"};
  }));
}

TEST_F(SpawnTest, SourcesThatAreEachOthersTargetsDoNotMixUp) {
  // In a process of its own, where 3, 4 and 5 can be rearranged at will.
  ForkedChild launcher([this] {
    const int files[] = {open_file("a"), open_file("b"), open_file("c")};
    int parked[3];
    for (int i = 0; i < 3; ++i) parked[i] = fcntl(files[i], F_DUPFD_CLOEXEC, 50);
    output_.reset(fcntl(output_.get(), F_DUPFD_CLOEXEC, 60));
    for (int i = 0; i < 3; ++i) dup3(parked[i], 3 + i, O_CLOEXEC);
    const Spawned child = start({5, 3, 4});
    return same_file(child.proc("fd/3"), folder_.path() / "c") &&
                   same_file(child.proc("fd/4"), folder_.path() / "a") &&
                   same_file(child.proc("fd/5"), folder_.path() / "b")
               ? 0
               : 1;
  });
  EXPECT_EQ(launcher.exit_code(), 0);
}

TEST_F(SpawnTest, TheLaunchersOwnDescriptorsStayAsTheyWere) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = count();
  {
    const Spawned child = start({output_.get()});
    EXPECT_EQ(count(), before + 1);  // the pidfd
    EXPECT_NE(fcntl(child.pidfd(), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(count(), before);
}

TEST_F(SpawnTest, TheEnvironmentIsTheOneGivenAndNothingElse) {
  const Spawned child = start({});
  const std::string expected("A=1\0EMPTY=\0B=x=y z\0", 19);
  // The parent goes on before the kernel has built the new program's stack.
  EXPECT_TRUE(test::eventually([&] { return base::read_file(child.proc("environ"), 4096) == expected; }));
}

TEST_F(SpawnTest, AnEnvironmentCanBeMoved) {
  const EnvironmentBlock moved = std::move(environment_);
  EXPECT_STREQ(moved.get()[0], "A=1");
  EXPECT_STREQ(moved.get()[2], "B=x=y z");
  EXPECT_EQ(moved.get()[3], nullptr);
}

TEST_F(SpawnTest, WhatAWorkerSaysGoesToItsLog) {
  const char* const arguments[] = {"sh", "-c", "echo out; echo err >&2; cat", nullptr};
  auto child = spawn({"/bin/sh", const_cast<char* const*>(arguments), environment_.get(), output_.get(), {}});
  ASSERT_TRUE(child) << child.error().line();
  const Spawned started(std::move(*child));
  EXPECT_TRUE(test::ends(started.pidfd()));  // cat met the end of /dev/null
  EXPECT_EQ(folder_.read("output"), "out\nerr\n");
}

TEST_F(SpawnTest, AWorkerHasAProcessGroupOfItsOwn) {
  const Spawned child = start({});
  EXPECT_EQ(getpgid(child.pid()), child.pid());
  EXPECT_NE(getpgid(child.pid()), getpgrp());
}

TEST_F(SpawnTest, AWorkerStartsWithNoSignalBlockedAndTheLaunchersMaskStays) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const Spawned child = start({});
  sigset_t after;
  sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), 1);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 0);
  const auto status = base::read_file(child.proc("status"), 1 << 16);
  ASSERT_TRUE(status);
  EXPECT_NE(status->find("SigBlk:\t0000000000000000\n"), std::string::npos) << *status;
}

TEST_F(SpawnTest, AWorkerDiesWithItsLauncher) {
  const test::Shared<std::atomic<pid_t>> worker;
  ForkedChild launcher([&] {
    const Spawned child = start({});
    worker->store(child.pid());
    return pause();
  });
  ASSERT_TRUE(test::eventually([&] { return worker->load() != 0; }));
  const Fd pidfd(base::open_pidfd(worker->load()));
  ASSERT_TRUE(pidfd.valid());
  pollfd still_there{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&still_there, 1, 0), 0);
  launcher.kill_and_reap();
  const bool died = test::ends(pidfd.get());
  if (!died) base::signal_pidfd(pidfd.get(), SIGKILL);
  EXPECT_TRUE(died);
}

}  // namespace
}  // namespace rollcall::study
