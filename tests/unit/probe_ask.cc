// A question costs itself and never the one who asks: whatever the program does, the
// answer is what it printed, or an error that says what happened.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "probe/observe.h"

namespace rollcall::probe {
namespace {

ProbeProgram shell() {
  ProbeProgram program;
  program.file = "/bin/sh";
  program.deadline_ms = 20'000;
  return program;
}

std::string refusal(const ProbeProgram& program, const std::string& script) {
  const auto answer = ask(program, {"-c", script});
  return answer ? "answered: " + *answer : answer.error().line();
}

void expect_says(const std::string& line, const std::string& words) {
  EXPECT_NE(line.find(words), std::string::npos) << "no '" << words << "': " << line;
}

TEST(Ask, TheAnswerIsAllThatWasPrinted) {
  const auto answer = ask(shell(), {"-c", "head -c 500000 /dev/zero | tr '\\0' x; echo noise >&2"});
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_EQ(*answer, std::string(500'000, 'x'));
}

TEST(Ask, HowItEndedIsSaidWithItsLastWords) {
  expect_says(refusal(shell(), "echo first >&2; echo no device >&2; exit 1"), "no device");
  expect_says(refusal(shell(), "exit 3"), "exit status 3");
  expect_says(refusal(shell(), "kill -SEGV $$"), "signal 11");
}

TEST(Ask, TheDeadlineEndsItWithAllThatItStarted) {
  ProbeProgram program = shell();
  program.deadline_ms = 300;
  const int64_t start_ns = base::monotonic_ns();
  expect_says(refusal(program, "echo stuck in cuInit >&2; sleep 600 & sleep 600"), "stuck in cuInit");
  EXPECT_LT(base::monotonic_ns() - start_ns, 60 * base::kNsPerSecond);
}

TEST(Ask, OneThatLeavesAChildBehindIsNotWaitedFor) {
  EXPECT_EQ(refusal(shell(), "sleep 600 & echo done"), "answered: done\n");
}

TEST(Ask, EndlessOutputIsCut) {
  expect_says(refusal(shell(), "yes"), "more than 1048576 bytes");
}

TEST(Ask, AProgramThatIsNotThereIsNamed) {
  ProbeProgram program;
  program.file = "/nowhere/rollcall-probe";
  expect_says(refusal(program, ""), "/nowhere/rollcall-probe: cannot execute");
}

TEST(Ask, TheEnvironmentIsTheCallersWithWhatIsAddedAndRemoved) {
  setenv("PROBE_TEST_KEPT", "kept", 1);
  setenv("PROBE_TEST_GONE", "there", 1);
  ProbeProgram program = shell();
  program.environment = {{"PROBE_TEST_NEW", "new"}, {"PROBE_TEST_GONE", ""}};
  EXPECT_EQ(refusal(program, "echo $PROBE_TEST_KEPT $PROBE_TEST_NEW ${PROBE_TEST_GONE-unset}"),
            "answered: kept new unset\n");
}

TEST(Observe, AMachineWithoutADriverIsAnAnswerAndNoListIsAnError) {
  ProbeProgram program;
  program.file = TEST_PROBE;
  program.environment = {{"LD_LIBRARY_PATH", ""}, {"ROLLCALL_SIM_SOCKET", ""}};
  const auto node = observe_node(program);
  ASSERT_TRUE(node) << node.error().line();
  if (node->usable()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_NE(node->cuda_error, "");
  EXPECT_FALSE(list_processes(program));
  const auto view = observe_view(program);
  ASSERT_TRUE(view) << view.error().line();
  EXPECT_EQ(view->view, ViewKind::kUnknown);
  EXPECT_NE(view->reason, "");
}

}  // namespace
}  // namespace rollcall::probe
