// The crew: every end is noticed and told as what it was, and a PID stays taken
// until the reaping.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process.h"
#include "forked_child.h"
#include "study/crew.h"

namespace rollcall::study {
namespace {

using base::Fd;
using base::monotonic_ns;

class CrewTest : public testing::Test {
 protected:
  void SetUp() override {
    output_.reset(open("/dev/null", O_WRONLY | O_CLOEXEC));
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    input_.reset(ends[0]);
    hold_.reset(ends[1]);
  }
  // A shell that runs `script`; "read x <&3" waits there until let_go().
  void start(const std::string& script) {
    const char* const arguments[] = {"sh", "-c", script.c_str(), nullptr};
    const auto started = crew_.start(
        {"/bin/sh", const_cast<char* const*>(arguments), environment_.get(), output_.get(), {input_.get()}});
    ASSERT_TRUE(started) << started.error().line();
  }
  void let_go() { hold_.reset(); }
  [[nodiscard]] const Member& member(size_t i) const { return crew_.members().at(i); }
  static int64_t soon() { return monotonic_ns() + 100 * base::kNsPerMs; }
  // Waits, as a launcher does, until the condition holds.
  template <typename Condition>
  bool wait_until(Condition condition) {
    const int64_t patience_ns = monotonic_ns() + test::kPatienceS * base::kNsPerSecond;
    while (!condition() && monotonic_ns() < patience_ns) crew_.wait(soon());
    return condition();
  }

  Fd output_, input_, hold_;
  EnvironmentBlock environment_{{{"PATH", "/usr/bin:/bin"}}};
  Crew crew_ = std::move(*Crew::create());
};

TEST_F(CrewTest, AnEmptyCrewIsGone) {
  EXPECT_TRUE(crew_.all_gone());
}

TEST_F(CrewTest, AnExitIsToldWithItsCode) {
  const int64_t before = monotonic_ns();
  start("exit 0");
  start("exit 7");
  EXPECT_TRUE(wait_until([&] { return crew_.all_gone(); }));
  EXPECT_EQ(member(0).exit_code, 0);
  EXPECT_EQ(member(1).exit_code, 7);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(member(i).gone);
    EXPECT_FALSE(member(i).exit_signal);
    EXPECT_GE(member(i).gone_at_ns, before);
    EXPECT_LE(member(i).gone_at_ns, monotonic_ns());
  }
}

TEST_F(CrewTest, ADeathBySignalIsToldWithItsSignal) {
  start("kill -TERM $$");
  start("ulimit -c 0; kill -SEGV $$");
  EXPECT_TRUE(wait_until([&] { return crew_.all_gone(); }));
  EXPECT_EQ(member(0).exit_signal, SIGTERM);
  EXPECT_EQ(member(1).exit_signal, SIGSEGV);
  EXPECT_FALSE(member(0).exit_code);
}

TEST_F(CrewTest, ThoseWhoLiveAreNotGone) {
  start("read x <&3");
  start("exit 1");
  EXPECT_TRUE(wait_until([&] { return member(1).gone; }));
  EXPECT_FALSE(member(0).gone);
  EXPECT_FALSE(crew_.ended(0));
  EXPECT_TRUE(crew_.ended(1));
  EXPECT_FALSE(crew_.all_gone());
  let_go();
  EXPECT_TRUE(wait_until([&] { return crew_.all_gone(); }));
}

TEST_F(CrewTest, AnEndIsSeenWhenAskedEvenBeforeAnyWait) {
  start("exit 3");
  EXPECT_TRUE(test::eventually([&] { return crew_.ended(0); }));
  EXPECT_FALSE(member(0).gone);  // noticed is another matter
  EXPECT_TRUE(wait_until([&] { return member(0).gone; }));
  EXPECT_TRUE(crew_.ended(0));
}

TEST_F(CrewTest, KillingEndsOneEvenOneThatIsStopped) {
  start("read x <&3");
  start("read x <&3");
  ASSERT_EQ(kill(member(0).child.pid, SIGSTOP), 0);
  crew_.kill(0);
  EXPECT_TRUE(wait_until([&] { return member(0).gone; }));
  EXPECT_EQ(member(0).exit_signal, SIGKILL);
  EXPECT_FALSE(crew_.ended(1));
}

TEST_F(CrewTest, AStoppedMemberIsNotGone) {
  start("read x <&3");
  ASSERT_EQ(kill(member(0).child.pid, SIGSTOP), 0);
  crew_.wait(monotonic_ns() + 20 * base::kNsPerMs);
  EXPECT_FALSE(member(0).gone);
  EXPECT_FALSE(crew_.ended(0));
}

TEST_F(CrewTest, APidStaysTakenUntilTheReaping) {
  start("exit 0");
  const pid_t pid = member(0).child.pid;
  ASSERT_TRUE(wait_until([&] { return crew_.all_gone(); }));
  EXPECT_EQ(kill(pid, 0), 0);  // a zombie
  EXPECT_GT(base::process_start_time(pid), 0U);
  crew_.reap();
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1);
  crew_.reap();  // nothing is left to do
}

TEST_F(CrewTest, AWatchedDescriptorEndsAWaitWithItsKey) {
  const Fd first(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const Fd second(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(crew_.watch(first.get(), 0));
  ASSERT_TRUE(crew_.watch(second.get(), 5));
  start("read x <&3");
  EXPECT_TRUE(crew_.wait(monotonic_ns()).empty());
  const uint64_t one = 1;
  ASSERT_EQ(write(second.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  EXPECT_EQ(crew_.wait(monotonic_ns() + test::kPatienceS * base::kNsPerSecond), std::vector<int>{5});
  ASSERT_EQ(write(first.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  std::vector<int> both = crew_.wait(monotonic_ns());
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, (std::vector<int>{0, 5}));
}

TEST_F(CrewTest, AnOverdueWaitReturnsAtOnceAndStillNoticesAnEnd) {
  start("exit 0");
  ASSERT_TRUE(test::eventually([&] { return crew_.ended(0); }));
  crew_.wait(monotonic_ns() - base::kNsPerSecond);
  EXPECT_TRUE(member(0).gone);
}

TEST_F(CrewTest, MoreEndsThanOneWaitTakesAreAllNoticed) {
  for (int i = 0; i < 150; ++i) start("exit 0");
  EXPECT_TRUE(wait_until([&] { return crew_.all_gone(); }));
  for (const Member& each : crew_.members()) EXPECT_EQ(each.exit_code, 0);
}

TEST_F(CrewTest, ItsEndIsTheEndOfAll) {
  std::vector<pid_t> pids;
  {
    Crew crew = std::move(crew_);
    for (const char* script : {"read x <&3", "exit 0", "kill -STOP $$"}) {
      const char* const arguments[] = {"sh", "-c", script, nullptr};
      ASSERT_TRUE(crew.start({"/bin/sh",
                              const_cast<char* const*>(arguments),
                              environment_.get(),
                              output_.get(),
                              {input_.get()}}));
      pids.push_back(crew.members().back().child.pid);
    }
    EXPECT_TRUE(test::eventually([&] { return crew.ended(1); }));
    crew.wait(monotonic_ns());
  }
  for (const pid_t pid : pids) {
    EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
}

}  // namespace
}  // namespace rollcall::study
