// The small value types of the ground floor: the error as one line, the nearest
// name, durations and owned descriptors.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/nearest.h"

namespace rollcall::base {
namespace {

TEST(Error, IsOneLineThatSaysWhereWhatAndWhatToDo) {
  const Error error{ErrorKind::kUsage, "plan.toml:3:1", "unknown key 'rnus'", "did you mean 'runs'?"};
  EXPECT_EQ(error.line(), "plan.toml:3:1: unknown key 'rnus'; did you mean 'runs'?");
}

TEST(Error, LeavesOutWhatIsEmpty) {
  EXPECT_EQ((Error{ErrorKind::kFailure, "", "interrupted", ""}.line()), "interrupted");
  EXPECT_EQ((Error{ErrorKind::kFailure, "file", "gone", ""}.line()), "file: gone");
  EXPECT_EQ((Error{ErrorKind::kFailure, "", "gone", "look again"}.line()), "gone; look again");
}

TEST(Error, StaysOneLineWhateverWasQuoted) {
  const std::string line = Error{ErrorKind::kFailure, "a\nb", "c\r\nd", "e\nf"}.line();
  EXPECT_EQ(line, "a b: c  d; e f");
}

TEST(Error, KnowsWhoseFaultItIs) {
  EXPECT_EQ(usage_error("x", "y").value().kind, ErrorKind::kUsage);
  EXPECT_EQ(failure("x", "y").value().kind, ErrorKind::kFailure);
}

TEST(Error, OfASystemCallNamesTheCallAndTheReason) {
  const Error error = system_failure("/some/file", "open", ENOENT, "make it").value();
  EXPECT_EQ(error.kind, ErrorKind::kFailure);
  EXPECT_EQ(error.line(), "/some/file: cannot open: No such file or directory; make it");
}

TEST(Nearest, DistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("legacy", "legcy"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 2U);
}

TEST(Nearest, IsTheClosestName) {
  EXPECT_EQ(nearest("legasy", {"native", "legacy", "legacy-node-lock"}), "legacy");
  EXPECT_EQ(nearest("nativ", {"native", "legacy"}), "native");
}

TEST(Nearest, IsTheFirstOfEquals) {
  EXPECT_EQ(nearest("b", {"a", "c"}), "a");
}

TEST(Nearest, IsEmptyWhereNothingIsValid) {
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Clock, SplitsNanosecondsIntoSecondsAndRest) {
  const timespec time = to_timespec(3 * kNsPerSecond + 7);
  EXPECT_EQ(time.tv_sec, 3);
  EXPECT_EQ(time.tv_nsec, 7);
}

TEST(Clock, AnOverdueWaitIsNoWait) {
  const timespec time = to_timespec(-5);
  EXPECT_EQ(time.tv_sec, 0);
  EXPECT_EQ(time.tv_nsec, 0);
}

TEST(Clock, NeverGoesBackwards) {
  int64_t before = monotonic_ns();
  EXPECT_GT(before, 0);
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = monotonic_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

TEST(Fd, ClosesWhatItOwnsWhenItGoes) {
  int number = -1;
  {
    const Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.get();
    ASSERT_TRUE(fd.valid());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, MovingHandsTheDescriptorOver) {
  Fd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  Fd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(second.get(), number);
  Fd third(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_TRUE(is_open(number));
  EXPECT_EQ(third.get(), number);
}

TEST(Fd, ReleasedIsNoLongerOwned) {
  int number = -1;
  {
    Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.release();
    EXPECT_FALSE(fd.valid());
  }
  EXPECT_TRUE(is_open(number));
  close(number);
}

}  // namespace
}  // namespace rollcall::base
