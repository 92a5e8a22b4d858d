// Waiting on a word between processes: a changed word never lets anybody sleep,
// a wake-up reaches another process, and every wait has an end.
#include <gtest/gtest.h>

#include <atomic>

#include "base/futex.h"
#include "forked_child.h"

namespace rollcall::base {
namespace {

using test::eventually;
using test::ForkedChild;
using test::is_asleep;
using test::Shared;

constexpr int64_t kForeverNs = 3600 * kNsPerSecond;

TEST(Futex, DoesNotSleepWhereTheWordHasChangedAlready) {
  ForkedChild child([] {
    std::atomic<uint32_t> word{1};
    futex_wait(&word, 0, kForeverNs);
    return 0;
  });
  EXPECT_EQ(child.exit_code(), 0);
}

TEST(Futex, AWaitEndsByItself) {
  ForkedChild child([] {
    std::atomic<uint32_t> word{0};
    futex_wait(&word, 0, kNsPerMs);
    futex_wait(&word, 0, -1);  // overdue
    return 0;
  });
  EXPECT_EQ(child.exit_code(), 0);
}

TEST(Futex, WakesAllInOtherProcesses) {
  const Shared<std::atomic<uint32_t>> word;
  std::vector<ForkedChild> children;
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([&] {
      while (word->load() == 0) futex_wait(&*word, 0, kForeverNs);
      return 0;
    });
  }
  for (const ForkedChild& child : children) ASSERT_TRUE(eventually([&] { return is_asleep(child.pid()); }));
  word->store(1);
  futex_wake(&*word);
  for (ForkedChild& child : children) EXPECT_EQ(child.exit_code(), 0);
}

}  // namespace
}  // namespace rollcall::base
