// What a line of HAMi-core's log says, and which lines are not believed to be one.
#include <gtest/gtest.h>

#include <string>

#include "hami/log.h"

namespace rollcall::hami {
namespace {

const std::string kInfo = "[HAMI-core Info(616:140303655548736:utils.c:186)]: ";
const std::string kError = "[HAMI-core ERROR (pid:616 thread=140303655548736 utils.c:153)]: ";

LogLine parse(const std::string& line) {
  const auto found = parse_log_line(line);
  EXPECT_TRUE(found) << line;
  return found.value_or(LogLine{});
}
void expect_failed(const std::string& line, LogSays says, const std::string& reason) {
  const LogLine found = parse(line);
  EXPECT_EQ(found.pid, 616);
  EXPECT_EQ(found.says, says);
  EXPECT_EQ(found.reason, reason);
  EXPECT_FALSE(found.assigned_pid);
}
void expect_says_nothing(const std::string& line) {
  const LogLine found = parse(line);
  EXPECT_EQ(found.pid, 616);
  EXPECT_EQ(found.says, LogSays::kNothing) << line;
  EXPECT_FALSE(found.assigned_pid);
}

// It was about to tell something, so what was said before is not the last word.
void expect_unclear(const std::string& line) {
  const LogLine found = parse(line);
  EXPECT_EQ(found.pid, 616);
  EXPECT_EQ(found.says, LogSays::kUnclear) << line;
  EXPECT_FALSE(found.assigned_pid);
}

TEST(HamiLogTest, HostPidIsTheAssignedPid) {
  const LogLine found = parse(kInfo + "hostPid=620");
  EXPECT_EQ(found.pid, 616);
  EXPECT_EQ(found.says, LogSays::kAssigned);
  EXPECT_EQ(found.assigned_pid, 620);
  EXPECT_STREQ(found.reason, "");
}

TEST(HamiLogTest, ANewerVersionSaysWhereItHasItFrom) {
  EXPECT_EQ(parse(kInfo + "hostPid=620 from broker").assigned_pid, 620);
}

TEST(HamiLogTest, EveryLevelHasItsPrefix) {
  for (const char* level : {"Info", "Msg", "Warn", "Debug"}) {
    const LogLine found = parse(std::string("[HAMI-core ") + level + "(7:8:a.c:9)]: hostPid=5");
    EXPECT_EQ(found.pid, 7) << level;
    EXPECT_EQ(found.assigned_pid, 5) << level;
  }
  EXPECT_EQ(parse("[HAMI-core ERROR (pid:7 thread=8 a.c:9)]: hostPid=5").pid, 7);
}

TEST(HamiLogTest, FailuresAreNamed) {
  expect_failed(kError + "host pid is error!", LogSays::kFailed, "host_pid_error");
  expect_failed(kError + "HOST PID NOT FOUND. 616", LogSays::kFailed, "host_pid_not_found");
  expect_failed("[HAMI-core Warn(616:1:u.c:2)]: SET_TASK_PID FAILED - using container PID for accounting",
                LogSays::kFailed, "set_task_pid_failed");
  expect_failed("[HAMI-core Warn(616:1:u.c:2)]: Skipped host PID detection due to lock timeout",
                LogSays::kGaveUpLock, "lock_timeout");
}

TEST(HamiLogTest, OtherMessagesSayNothing) {
  for (const char* message :
       {"", "Initializing.....", "Initialized", "SET PID= 620", "Primary Context Size==0", "merge pid=620",
        "Waiting for postinit lock (trial 1/10, waited 30s, PID 616)", "the hostPid=620"}) {
    expect_says_nothing(kInfo + message);
  }
}

TEST(HamiLogTest, ANumberThatIsNoPidIsUnclear) {
  for (const char* number : {"", "0", "-5", "+5", " 5", "0x5", "5.", "5,", "five", "620\t", "2147483648",
                             "9223372036854775808", "99999999999999999999999"}) {
    expect_unclear(kInfo + "hostPid=" + number);
  }
  EXPECT_EQ(parse(kInfo + "hostPid=2147483647").assigned_pid, INT32_MAX);
}

TEST(HamiLogTest, NobodySpeaksUnderANumberThatIsNoPid) {
  EXPECT_TRUE(parse_log_line("[HAMI-core Info(2147483647:1:u.c:2)]: hostPid=7"));
  EXPECT_FALSE(parse_log_line("[HAMI-core Info(2147483648:1:u.c:2)]: hostPid=7"));
}

TEST(HamiLogTest, WhatStoodInAHoleIsNotKnown) {
  expect_unclear(kInfo + std::string(1, '\0') + "hostPid=620");
  expect_says_nothing(kInfo + std::string(3, '\0') + "merge pid=620");
}

TEST(HamiLogTest, TwoLinesThatRanIntoOneAreNotBelieved) {
  expect_unclear(kInfo + "hostPid=62" + kInfo + "hostPid=620");
  expect_unclear(kInfo + "hostPid=62 " + kInfo);
  expect_unclear(kInfo + "host pid is error!" + kInfo);
  expect_unclear(kInfo + "ho" + kInfo);
  expect_unclear(kInfo + "SET_TASK" + kInfo);
  expect_says_nothing(kInfo + "SET PID= 62" + kInfo + "hostPid=620");
  expect_says_nothing(kInfo + "Initiali" + kInfo);
  expect_says_nothing(kInfo + kInfo + "hostPid=620");
}

// The second one's message must not become the first one's statement, wherever the
// first one was cut.
TEST(HamiLogTest, ALineCutAnywhereAndAnotherOneAfterItSayNothing) {
  const std::string other = "[HAMI-core Info(999:1:u.c:2)]: ";
  for (const std::string& first : {kInfo + "hostPid=62", kError + "host pid is error!"}) {
    for (const std::string& second : {other + "hostPid=777", other + "host pid is error!"}) {
      for (size_t size = 1; size <= first.size(); ++size) {
        const auto found = parse_log_line(first.substr(0, size) + second);
        const bool within_its_prefix = size < kInfo.size() - 10;
        EXPECT_FALSE(found && within_its_prefix) << size;
        if (!found) continue;
        EXPECT_EQ(found->pid, 616) << size;
        EXPECT_TRUE(found->says == LogSays::kNothing || found->says == LogSays::kUnclear) << size;
        EXPECT_FALSE(found->assigned_pid) << size;
        EXPECT_STREQ(found->reason, "") << size;
      }
    }
  }
}

TEST(HamiLogTest, ACarriageReturnBelongsToTheLineEnd) {
  EXPECT_EQ(parse(kInfo + "hostPid=620\r").assigned_pid, 620);
  expect_unclear(kInfo + "hostPid=620\r\r");
}

TEST(HamiLogTest, NulBytesBeforeALineAreAHoleAndAnywhereElseGarbage) {
  EXPECT_EQ(parse(std::string(5000, '\0') + kInfo + "hostPid=620").assigned_pid, 620);
  expect_unclear(kInfo + "hostPid=62" + std::string(1, '\0') + "0");
  expect_unclear(kInfo + "hostPid=620" + std::string(1, '\0'));
  EXPECT_FALSE(parse_log_line(std::string(100, '\0')));
}

TEST(HamiLogTest, ALineCutAnywhereNeverSaysMoreThanItHas) {
  for (const std::string& line : {kInfo + "hostPid=", kError + "host pid is error"}) {
    for (size_t size = 0; size <= line.size(); ++size) {
      const auto found = parse_log_line(std::string_view(line).substr(0, size));
      if (!found) continue;
      EXPECT_EQ(found->pid, 616) << size;
      EXPECT_TRUE(found->says == LogSays::kNothing || found->says == LogSays::kUnclear) << size;
    }
  }
}

TEST(HamiLogTest, ThePrefixIsTheSpeakerAndWhereTheMessageBegins) {
  const auto prefix = parse_log_prefix(kInfo + "hostPid=620");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->pid, 616);
  EXPECT_EQ(prefix->bytes, kInfo.size());
  EXPECT_FALSE(parse_log_prefix(" " + kInfo));
  EXPECT_FALSE(parse_log_prefix(kInfo.substr(0, kInfo.size() - 1)));
}

TEST(HamiLogTest, WithoutAValidPrefixItIsNotALineOfHamiCore) {
  for (const char* line :
       {"", "hostPid=620", "{\"n\":2,\"ok\":2}", " [HAMI-core Info(616:1:a.c:2)]: hostPid=620",
        "[HAMI-core Info(:1:a.c:2)]: hostPid=620", "[HAMI-core Info(-616:1:a.c:2)]: hostPid=620",
        "[HAMI-core Info(0:1:a.c:2)]: hostPid=620", "[HAMI-core Info(616 :1:a.c:2)]: hostPid=620",
        "[HAMI-core Info(616:1:a.c:)]: hostPid=620", "[HAMI-core Info(616:1:a.c)]: hostPid=620",
        "[HAMI-core Info(616:1::2)]: hostPid=620", "[HAMI-core Info(616:x:a.c:2)]: hostPid=620",
        "[HAMI-core Info(99999999999999999999:1:a.c:2)]: hostPid=620",
        "[HAMI-core Loud(616:1:a.c:2)]: hostPid=620", "[HAMI-core ERROR (616:1:a.c:2)]: hostPid=620",
        "[HAMI-core Info(616:1:a.c:2)] hostPid=620", "[hami-core Info(616:1:a.c:2)]: hostPid=620"}) {
    EXPECT_FALSE(parse_log_line(line)) << line;
  }
}

}  // namespace
}  // namespace rollcall::hami
