// What the shim is told through the environment; without a word it is off.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/clock.h"
#include "shim/settings.h"

namespace rollcall::shim {
namespace {

class ShimSettings : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const char* name :
         {"ROLLCALL_SHIM_DISCOVERY", "CUDA_DEVICE_MEMORY_SHARED_CACHE", "ROLLCALL_SHIM_NODE_LOCK",
          "ROLLCALL_SHIM_LOCK_TIMEOUT_MS", "ROLLCALL_SHIM_BROKER", "ROLLCALL_SHIM_BROKER_UID",
          "ROLLCALL_SHIM_DEADLINE_MS", "ROLLCALL_SHIM_LOG"}) {
      unsetenv(name);
    }
  }
  static Discovery discovery(const char* text) {
    setenv("ROLLCALL_SHIM_DISCOVERY", text, 1);
    return read_settings().discovery;
  }
  static int64_t timeout_ms(const char* text) {
    setenv("ROLLCALL_SHIM_LOCK_TIMEOUT_MS", text, 1);
    return read_settings().lock_timeout_ns / base::kNsPerMs;
  }
  static uint32_t deadline_ms(const char* text) {
    setenv("ROLLCALL_SHIM_DEADLINE_MS", text, 1);
    return read_settings().deadline_ms;
  }
  static uint32_t broker_uid(const char* text) {
    setenv("ROLLCALL_SHIM_BROKER_UID", text, 1);
    return read_settings().broker_uid;
  }
};

TEST_F(ShimSettings, WithoutAWordItIsOff) {
  const Settings settings = read_settings();
  EXPECT_EQ(settings.discovery, Discovery::kOff);
  EXPECT_EQ(settings.cache_path, nullptr);
  EXPECT_EQ(settings.node_lock_path, nullptr);
  EXPECT_EQ(settings.lock_timeout_ns, 330 * base::kNsPerSecond);
  EXPECT_EQ(settings.broker_path, nullptr) << "nobody is asked who was not named";
  EXPECT_EQ(settings.broker_uid, 0U) << "root";
  EXPECT_EQ(settings.deadline_ms, 500U);
  EXPECT_FALSE(settings.log);
}

TEST_F(ShimSettings, DiscoveryIsOneOfThreeWordsAndElseOff) {
  EXPECT_EQ(discovery("legacy"), Discovery::kLegacy);
  EXPECT_EQ(discovery("legacy-node-lock"), Discovery::kLegacyNodeLock);
  EXPECT_EQ(discovery("tiered"), Discovery::kTiered);
  for (const char* text : {"", "Legacy", "legacy ", "legacy-node", "Tiered", "tiered,legacy", "on", "1"}) {
    EXPECT_EQ(discovery(text), Discovery::kOff) << text;
  }
}

TEST_F(ShimSettings, PathsAreTakenAsTheyAreAndEmptyMeansNone) {
  setenv("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/a path/cache", 1);
  setenv("ROLLCALL_SHIM_NODE_LOCK", "lock", 1);
  EXPECT_STREQ(read_settings().cache_path, "/a path/cache");
  EXPECT_STREQ(read_settings().node_lock_path, "lock");
  setenv("ROLLCALL_SHIM_BROKER", "/run/a broker/socket", 1);
  EXPECT_STREQ(read_settings().broker_path, "/run/a broker/socket");
  setenv("ROLLCALL_SHIM_BROKER", "", 1);
  EXPECT_EQ(read_settings().broker_path, nullptr);
  setenv("CUDA_DEVICE_MEMORY_SHARED_CACHE", "", 1);
  setenv("ROLLCALL_SHIM_NODE_LOCK", "", 1);
  EXPECT_EQ(read_settings().cache_path, nullptr);
  EXPECT_EQ(read_settings().node_lock_path, nullptr);
}

TEST_F(ShimSettings, TheTimeoutIsAWholeNumberOfMillisecondsUpToADay) {
  EXPECT_EQ(timeout_ms("0"), 0);
  EXPECT_EQ(timeout_ms("1500"), 1500);
  EXPECT_EQ(timeout_ms("86400000"), 86400000);
}

TEST_F(ShimSettings, ATimeoutThatMakesNoSenseIsTheDefault) {
  for (const char* text : {"", "-1", "86400001", "1.5", "1s", "abc", "99999999999999999999999"}) {
    EXPECT_EQ(timeout_ms(text), 330000) << text;
  }
}

TEST_F(ShimSettings, TheDeadlineIsAWholeNumberOfMillisecondsUpToAMinute) {
  EXPECT_EQ(deadline_ms("1"), 1U);
  EXPECT_EQ(deadline_ms("60000"), 60000U);
  // 0 is none that libhostpid takes: no wait is without a deadline.
  for (const char* text : {"", "0", "-1", "60001", "1.5", "1s", "99999999999999999999999"}) {
    EXPECT_EQ(deadline_ms(text), 500U) << text;
  }
}

TEST_F(ShimSettings, TheBrokersOwnerIsAUidAndElseRoot) {
  EXPECT_EQ(broker_uid("1000"), 1000U);
  EXPECT_EQ(broker_uid("4294967295"), UINT32_MAX);
  for (const char* text : {"", "-1", "4294967296", "root", "1000 "}) {
    EXPECT_EQ(broker_uid(text), 0U) << text;
  }
}

TEST_F(ShimSettings, ItTalksOnlyWhenAsked) {
  for (const char* text : {"", "0", "yes", "11"}) {
    setenv("ROLLCALL_SHIM_LOG", text, 1);
    EXPECT_FALSE(read_settings().log) << text;
  }
  setenv("ROLLCALL_SHIM_LOG", "1", 1);
  EXPECT_TRUE(read_settings().log);
}

class ShimChallengeDeadline : public testing::Test {
 protected:
  void SetUp() override { unsetenv(kName); }
  void TearDown() override { unsetenv(kName); }
  static uint32_t deadline_ms(const char* text) {
    setenv(kName, text, 1);
    return read_settings().challenge_deadline_ms;
  }
  static constexpr const char* kName = "ROLLCALL_SHIM_CHALLENGE_DEADLINE_MS";
};

TEST_F(ShimChallengeDeadline, IsTenSecondsAndNotTheOneOfCuInit) {
  setenv("ROLLCALL_SHIM_DEADLINE_MS", "700", 1);
  const Settings settings = read_settings();
  unsetenv("ROLLCALL_SHIM_DEADLINE_MS");
  EXPECT_EQ(settings.deadline_ms, 700U);
  EXPECT_EQ(settings.challenge_deadline_ms, 10'000U);
  EXPECT_EQ(deadline_ms("20000"), 20'000U);
  EXPECT_EQ(read_settings().deadline_ms, 500U);
}

TEST_F(ShimChallengeDeadline, IsAtLeastOneMillisecondAndAtMostAMinute) {
  EXPECT_EQ(deadline_ms("1"), 1U);
  EXPECT_EQ(deadline_ms("60000"), 60'000U);
  for (const char* text : {"", "0", "-1", "60001", "1.5", "abc"})
    EXPECT_EQ(deadline_ms(text), 10'000U) << text;
}

}  // namespace
}  // namespace rollcall::shim
