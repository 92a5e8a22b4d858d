// The state of one connection, byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "broker/request.h"

namespace rollcall::broker {
namespace {

using Step = Request::Step;

Step feed(Request& request, const std::string& bytes) {
  EXPECT_LE(bytes.size(), request.room());
  std::copy(bytes.begin(), bytes.end(), request.space());
  return request.receive(bytes.size());
}

std::string pid_request() {
  return {'H', 'P', 'I', 'D', 0, 1, 0, 1};
}

TEST(Request, WholeAtOnce) {
  Request request;
  EXPECT_EQ(feed(request, pid_request()), Step::kAnswer);
  EXPECT_EQ(request.command(), hostpid::Command::kPid);
  Request extended;
  EXPECT_EQ(feed(extended, {'H', 'P', 'I', 'D', 0, 1, 0, 2}), Step::kAnswer);
  EXPECT_EQ(extended.command(), hostpid::Command::kExtended);
}

TEST(Request, InAnyTwoPieces) {
  const std::string bytes = pid_request();
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    Request request;
    EXPECT_EQ(feed(request, bytes.substr(0, cut)), Step::kWait) << cut;
    EXPECT_EQ(feed(request, bytes.substr(cut)), Step::kAnswer) << cut;
  }
}

TEST(Request, AWrongByteIsKnownAtOnce) {
  for (size_t wrong = 0; wrong < 8; ++wrong) {
    std::string bytes = pid_request();
    bytes[wrong] = static_cast<char>(bytes[wrong] ^ 0x40);
    Request request;
    for (size_t i = 0; i < wrong; ++i) EXPECT_EQ(feed(request, bytes.substr(i, 1)), Step::kWait);
    EXPECT_EQ(feed(request, bytes.substr(wrong, 1)), Step::kInvalid) << wrong;
  }
}

TEST(Request, AByteTooManyIsInvalid) {
  Request request;
  EXPECT_EQ(feed(request, pid_request() + "x"), Step::kInvalid);
  EXPECT_EQ(Request().room(), hostpid::kRequestBytes + 1);
}

TEST(Request, TheEndBeforeItIsWhole) {
  Request request;
  EXPECT_EQ(feed(request, "HPI"), Step::kWait);
  EXPECT_EQ(request.receive(0), Step::kHangUp);
  EXPECT_EQ(Request().receive(0), Step::kHangUp);
}

TEST(Request, ThereIsRoomForWhatIsStillToCome) {
  Request request;
  const std::string bytes = pid_request();
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    EXPECT_EQ(request.room(), Request::kMostBytes - i);
    EXPECT_EQ(feed(request, bytes.substr(i, 1)), Step::kWait);
  }
}

}  // namespace
}  // namespace rollcall::broker
