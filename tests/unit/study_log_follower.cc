// Following a log that is being written: every line is heard once, whole, and in
// order; the last statement of each process counts; nothing makes it read for ever.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <charconv>
#include <fstream>
#include <thread>
#include <vector>

#include "evidence_temporary_folder.h"
#include "study/log_follower.h"

namespace rollcall::study {
namespace {

using State = LogFollower::State;
using Says = Statement::Says;

class LogFollowerTest : public testing::Test {
 protected:
  // "PID NUMBER" assigns, "PID !" fails with a cause, "PID ?" fails without one.
  LogFollower follower() {
    return {path(), [this](std::string_view line) -> std::optional<Heard> {
              lines_.emplace_back(line.substr(0, 100));
              const size_t blank = line.find(' ');
              if (blank == std::string_view::npos || line.size() > 1000) return std::nullopt;
              Heard heard{number(line.substr(0, blank)), {}};
              const std::string_view rest = line.substr(blank + 1);
              if (rest == "!") {
                heard.statement = {Says::kFailed, 0, "cause", false};
              } else if (rest == "?") {
                heard.statement = {Says::kFailed, 0, "general", true};
              } else {
                heard.statement = {Says::kAssigned, number(rest), "", false};
              }
              return heard;
            }};
  }
  static int64_t number(std::string_view text) {
    int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  std::filesystem::path path() { return folder_.path() / "log"; }
  void append(const std::string& text) { std::ofstream(path(), std::ios::app | std::ios::binary) << text; }

  test::TemporaryFolder folder_;
  std::vector<std::string> lines_;
};

TEST_F(LogFollowerTest, TheLastStatementOfEachProcessCounts) {
  append("1 10\n2 20\n1 11\n3 !\n");
  LogFollower log = follower();
  EXPECT_EQ(log.follow(), State::kWhole);
  EXPECT_EQ(log.last_of(1)->assigned_pid, 11);
  EXPECT_EQ(log.last_of(2)->assigned_pid, 20);
  EXPECT_EQ(log.last_of(3)->says, Says::kFailed);
  EXPECT_EQ(log.last_of(4), nullptr);
}

TEST_F(LogFollowerTest, ALaterStatementReplacesAnEarlierOneOfEitherKind) {
  append("1 !\n1 10\n2 20\n2 !\n3 30\n3 ?\n");
  LogFollower log = follower();
  log.follow();
  EXPECT_EQ(log.last_of(1)->says, Says::kAssigned);
  EXPECT_STREQ(log.last_of(2)->reason, "cause");
  EXPECT_STREQ(log.last_of(3)->reason, "general");
}

TEST_F(LogFollowerTest, AGeneralFailureKeepsTheCauseThatWasNamedBefore) {
  append("1 !\n1 ?\n2 ?\n2 !\n");
  LogFollower log = follower();
  log.follow();
  EXPECT_STREQ(log.last_of(1)->reason, "cause");
  EXPECT_STREQ(log.last_of(2)->reason, "cause");
}

TEST_F(LogFollowerTest, EveryLineIsHeardOnce) {
  append("1 10\n2 20\n");
  LogFollower log = follower();
  log.follow();
  append("3 30\n");
  log.follow();
  EXPECT_EQ(log.follow(), State::kWhole);
  EXPECT_EQ(lines_, (std::vector<std::string>{"1 10", "2 20", "3 30"}));
}

TEST_F(LogFollowerTest, AHalfLineWaitsForItsEnd) {
  append("1 10\n1 1");
  LogFollower log = follower();
  EXPECT_EQ(log.follow(), State::kWhole);
  EXPECT_EQ(log.last_of(1)->assigned_pid, 10);
  append("2");
  log.follow();
  EXPECT_EQ(log.last_of(1)->assigned_pid, 10);
  append("3\n2 20\n");
  log.follow();
  EXPECT_EQ(log.last_of(1)->assigned_pid, 123);
  EXPECT_EQ(log.last_of(2)->assigned_pid, 20);
}

TEST_F(LogFollowerTest, CrlfEndsALineToo) {
  append("1 !\r\n2 20\r\n\r\n");
  LogFollower log = follower();
  log.follow();
  EXPECT_EQ(lines_, (std::vector<std::string>{"1 !", "2 20", ""}));
}

TEST_F(LogFollowerTest, NulBytesAreBytes) {
  append(std::string("1 10\n2\0 20\n", 11));
  LogFollower log = follower();
  log.follow();
  EXPECT_EQ(lines_[1], std::string("2\0 20", 5));
}

TEST_F(LogFollowerTest, ALineOf64KiBIsHeardAndALongerOneIsNot) {
  append("1 10\n" + std::string(65536, 'x') + "\n" + std::string(65537, 'y') + "\n2 20\n");
  LogFollower log = follower();
  log.follow();
  ASSERT_EQ(lines_.size(), 3);
  EXPECT_EQ(lines_[1][0], 'x');
  EXPECT_EQ(log.last_of(2)->assigned_pid, 20);
}

TEST_F(LogFollowerTest, ALongLineIsSkippedToItsEndHoweverOftenItIsContinued) {
  LogFollower log = follower();
  append("1 10\n2 20");
  log.follow();
  for (int i = 0; i < 12; ++i) {
    append(std::string(50000, '0'));
    log.follow();
  }
  append("\n3 30\n");
  log.follow();
  EXPECT_EQ(lines_, (std::vector<std::string>{"1 10", "3 30"}));
}

TEST_F(LogFollowerTest, OfAVeryLongLogOnlySoMuchIsReadAtOnce) {
  append("1 10\n");
  std::filesystem::resize_file(path(), LogFollower::kMaxBytesAtOnce);  // a hole: one very long line
  append("\n1 11\n");
  LogFollower log = follower();
  EXPECT_EQ(log.follow(), State::kBehind);
  EXPECT_EQ(log.last_of(1)->assigned_pid, 10);
  EXPECT_EQ(log.follow(), State::kWhole);
  EXPECT_EQ(log.last_of(1)->assigned_pid, 11);
}

TEST_F(LogFollowerTest, ALogOfExactlyThatMuchIsReadWhole) {
  append("1 10\n");
  std::filesystem::resize_file(path(), LogFollower::kMaxBytesAtOnce);
  EXPECT_EQ(follower().follow(), State::kWhole);
}

TEST_F(LogFollowerTest, OnlySoManyProcessesAreRemembered) {
  std::string text;
  for (int pid = 1; pid <= 65536; ++pid) text += std::to_string(pid) + " 5\n";
  append(text);
  LogFollower log = follower();
  log.follow();
  EXPECT_FALSE(log.has_forgotten());
  append("1 6\n");  // a known one may go on
  log.follow();
  EXPECT_FALSE(log.has_forgotten());
  append("70000 5\n");
  log.follow();
  EXPECT_TRUE(log.has_forgotten());
  EXPECT_EQ(log.last_of(70000), nullptr);
  EXPECT_EQ(log.last_of(65536)->assigned_pid, 5);
  EXPECT_EQ(log.last_of(1)->assigned_pid, 6);
}

TEST_F(LogFollowerTest, AMissingLogMayComeLater) {
  LogFollower log = follower();
  EXPECT_EQ(log.follow(), State::kMissing);
  append("1 10\n");
  EXPECT_EQ(log.follow(), State::kWhole);
  EXPECT_EQ(log.last_of(1)->assigned_pid, 10);
}

TEST_F(LogFollowerTest, SomethingThatIsNoRegularFileIsUnreadable) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(follower().follow(), State::kUnreadable);  // and it does not wait for a writer
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(follower().follow(), State::kUnreadable);
}

TEST_F(LogFollowerTest, ALogThatWasCutStaysCut) {
  append("1 10\n2 20\n");
  LogFollower log = follower();
  log.follow();
  std::filesystem::resize_file(path(), 5);
  EXPECT_EQ(log.follow(), State::kTruncated);
  append("2 20\n3 30\n");
  EXPECT_EQ(log.follow(), State::kTruncated);  // what was lost meanwhile is not known
}

TEST_F(LogFollowerTest, ALogThatWasCutAndGrewAgainIsFoundOut) {
  append("1 10\n2 20\n");
  LogFollower log = follower();
  log.follow();
  std::filesystem::resize_file(path(), 0);
  append("9 90\n8 80\n7 70\n");
  EXPECT_EQ(log.follow(), State::kTruncated);
}

TEST_F(LogFollowerTest, ALogThatWasReplacedIsNotTheLog) {
  append("1 10\n");
  LogFollower log = follower();
  log.follow();
  folder_.write("other", "1 10\n2 20\n");
  std::filesystem::rename(folder_.path() / "other", path());
  EXPECT_EQ(log.follow(), State::kTruncated);
}

TEST_F(LogFollowerTest, WhileItIsWrittenNoLineIsLostTwiceHeardOrTorn) {
  constexpr int kLines = 20000;
  std::atomic<bool> done = false;
  std::thread writer([this, &done] {
    std::ofstream out(path(), std::ios::app | std::ios::binary);
    for (int i = 1; i <= kLines; ++i) {
      const std::string line = std::to_string(i) + " " + std::to_string(i * 7) + "\n";
      out << line.substr(0, 3);
      if (i % 100 == 0) out.flush();
      out << line.substr(3);
    }
    out.flush();
    done = true;
  });
  LogFollower log = follower();
  while (!done) log.follow();
  writer.join();
  EXPECT_EQ(log.follow(), State::kWhole);
  ASSERT_EQ(lines_.size(), kLines);
  for (int i = 1; i <= kLines; ++i) ASSERT_EQ(log.last_of(i)->assigned_pid, i * 7);
}

}  // namespace
}  // namespace rollcall::study
