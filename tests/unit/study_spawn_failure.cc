// A worker that cannot be started is an error that names the program and why; no
// process and no descriptor is left of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "study/crew.h"
#include "study/spawn.h"

namespace rollcall::study {
namespace {

using test::ForkedChild;

class SpawnFailure : public testing::Test {
 protected:
  void SetUp() override { output_.reset(open("/dev/null", O_WRONLY | O_CLOEXEC)); }

  // The error's line, with the check that nothing was left behind.
  std::string refusal(const std::string& program, int output, const std::vector<int>& inherited) const {
    const char* const arguments[] = {"program", nullptr};
    const auto before = descriptors();
    const auto child =
        spawn({program.c_str(), const_cast<char* const*>(arguments), environment_.get(), output, inherited});
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child at all, not even a zombie
    EXPECT_EQ(errno, ECHILD);
    EXPECT_FALSE(child);
    if (child) return "";
    EXPECT_EQ(descriptors(), before);
    return child.error().line();
  }
  static int descriptors() {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                          std::filesystem::directory_iterator()));
  }

  test::TemporaryFolder folder_;
  base::Fd output_;
  EnvironmentBlock environment_{{}};
};

TEST_F(SpawnFailure, AMissingProgramIsAnErrorAndNotAnExitStatus) {
  const std::string program = folder_.path() / "absent";
  EXPECT_EQ(refusal(program, output_.get(), {}), program + ": cannot execute: No such file or directory");
}

TEST_F(SpawnFailure, AFileThatIsNoProgramIsAnError) {
  folder_.write("text", "not a program");
  const std::string program = folder_.path() / "text";
  EXPECT_EQ(refusal(program, output_.get(), {}), program + ": cannot execute: Permission denied");
  chmod(program.c_str(), 0755);
  EXPECT_EQ(refusal(program, output_.get(), {}), program + ": cannot execute: Exec format error");
}

TEST_F(SpawnFailure, ADescriptorThatIsNotOpenIsAnError) {
  EXPECT_NE(refusal("/bin/true", -1, {}).find("Bad file descriptor"), std::string::npos);
  EXPECT_NE(refusal("/bin/true", output_.get(), {9999}).find("Bad file descriptor"), std::string::npos);
}

TEST_F(SpawnFailure, MoreDescriptorsThanForeseenAreRefusedBeforeTheFork) {
  EXPECT_NE(refusal("/bin/true", output_.get(), std::vector<int>(9, output_.get())).find("more descriptors"),
            std::string::npos);
}

TEST_F(SpawnFailure, TooManyProcessesNamesTheLimits) {
  // 77: root is not bound by the limit, and cannot become somebody who is.
  ForkedChild child([this] {
    if (getuid() == 0 && setuid(65534) != 0) return 77;
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0) return 2;
    const char* const arguments[] = {"true", nullptr};
    const auto started =
        spawn({"/bin/true", const_cast<char* const*>(arguments), environment_.get(), output_.get(), {}});
    return !started && started.error().line().find("ulimit -u") != std::string::npos ? 0 : 1;
  });
  const int code = child.exit_code();
  if (code == 77) GTEST_SKIP() << "this root may not become another user";
  EXPECT_EQ(code, 0);
}

TEST_F(SpawnFailure, AProgramThatCannotBeStartedIsNoMemberOfACrew) {
  const char* const arguments[] = {"x", nullptr};
  Crew crew = std::move(*Crew::create());
  EXPECT_FALSE(
      crew.start({"/nowhere/x", const_cast<char* const*>(arguments), environment_.get(), output_.get(), {}}));
  EXPECT_TRUE(crew.members().empty());
  EXPECT_TRUE(crew.all_gone());
}

TEST_F(SpawnFailure, TheSignalMaskIsRestoredAfterAFailure) {
  sigset_t before;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  refusal(folder_.path() / "absent", output_.get(), {});
  sigset_t after;
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal)
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal));
}

}  // namespace
}  // namespace rollcall::study
