// The client of the broker against brokers that are well, old, restarting, busy, slow
// and lying.
#include <gtest/gtest.h>

#include "hostpid/broker_client.h"
#include "hostpid_world.h"

namespace rollcall::hostpid {
namespace {

using Open = BrokerSocket::Open;
using Io = BrokerSocket::Io;

constexpr uint32_t kHostPid = 31337;

class BrokerClient : public testing::Test {
 protected:
  ScriptedWorld world_;
  ScriptedConnection right() { return says(Command::kExtended, right_answer(world_, kHostPid)); }
  static ScriptedConnection fails(Open open) { return {open, {}, Io::kClosed}; }
};

TEST_F(BrokerClient, BelievesARightAnswer) {
  world_.script = {right()};
  const BrokerAnswer answer = world_.ask();
  EXPECT_EQ(answer.reason, Reason::kNone);
  EXPECT_EQ(answer.host_pid, static_cast<int32_t>(kHostPid));
  EXPECT_EQ(answer.view, HOSTPID_VIEW_TRANSLATED);
  ASSERT_EQ(world_.requests.size(), 1U);
  EXPECT_EQ(world_.requests[0], std::string("HPID\0\1\0\2", 8));
  EXPECT_EQ(world_.opened, world_.closed);
}

TEST_F(BrokerClient, JoinsAnAnswerThatComesInPieces) {
  const std::string whole = answer_bytes(Command::kExtended, right_answer(world_, kHostPid));
  ScriptedConnection connection;
  for (const char c : whole) connection.pieces.emplace_back(1, c);
  world_.script = {connection};
  EXPECT_EQ(world_.ask().host_pid, static_cast<int32_t>(kHostPid));
}

// An upstream server knows command 1 alone, and says so in 12 bytes.
TEST_F(BrokerClient, AsksAnUpstreamServerInItsOwnWords) {
  ExtendedAnswer plain;
  plain.pid = kHostPid;
  world_.script = {says(Command::kPid, status_only(WireStatus::kInvalidRequest)), says(Command::kPid, plain)};
  const BrokerAnswer answer = world_.ask();
  EXPECT_EQ(answer.reason, Reason::kNone);
  EXPECT_EQ(answer.host_pid, static_cast<int32_t>(kHostPid));
  EXPECT_EQ(answer.view, HOSTPID_VIEW_UNKNOWN);
  ASSERT_EQ(world_.requests.size(), 2U);
  EXPECT_EQ(world_.requests[1], std::string("HPID\0\1\0\1", 8));
}

TEST_F(BrokerClient, GivesUpWhereEvenCommandOneIsInvalid) {
  world_.script = {says(Command::kPid, status_only(WireStatus::kInvalidRequest))};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerRefused);
  EXPECT_EQ(world_.opened, 2);
}

TEST_F(BrokerClient, AsksAgainWhereTheBrokerWentBetweenConnectAndAnswer) {
  world_.script = {
      {Open::kOk, {}, Io::kClosed}, fails(Open::kNotThere), {Open::kOk, {"HPID"}, Io::kClosed}, right()};
  EXPECT_EQ(world_.ask().host_pid, static_cast<int32_t>(kHostPid));
}

// Brokers that are not there must not cost every process its whole deadline.
TEST_F(BrokerClient, LooksForAMissingBrokerNoLongerThanARestartTakes) {
  world_.script = {fails(Open::kNotThere)};
  const int64_t before_ns = world_.now_ns;
  EXPECT_EQ(world_.ask(10'000).reason, Reason::kBrokerGone);
  EXPECT_GE(world_.now_ns - before_ns, kRestartGraceNs);
  EXPECT_LE(world_.now_ns - before_ns, kRestartGraceNs + 25 * kMs);
}

TEST_F(BrokerClient, GivesUpOnABrokerThatAlwaysClosesWithoutAnAnswer) {
  world_.script = {{Open::kOk, {}, Io::kClosed}};
  EXPECT_EQ(world_.ask(60'000).reason, Reason::kBrokerGone);
  EXPECT_EQ(world_.opened, kMaxBrokenExchanges);
  EXPECT_EQ(world_.closed, kMaxBrokenExchanges);
}

TEST_F(BrokerClient, WaitsForRoomInAFullBacklogUntilTheDeadline) {
  world_.script.assign(20, fails(Open::kBacklogFull));
  world_.script.push_back(right());
  EXPECT_EQ(world_.ask().reason, Reason::kNone);
  world_.script = {fails(Open::kBacklogFull)};
  const int64_t before_ns = world_.now_ns;
  EXPECT_EQ(world_.ask(500).reason, Reason::kBrokerTimeout);
  EXPECT_LE(world_.now_ns - before_ns, 501 * kMs);
}

TEST_F(BrokerClient, ComesBackToABusyBrokerAndSaysInTheEndThatItWasBusy) {
  const ScriptedConnection busy = says(Command::kPid, status_only(WireStatus::kBusy));
  world_.script = {busy, busy, right()};
  EXPECT_EQ(world_.ask().reason, Reason::kNone);
  world_.script = {busy};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerBusy);
}

TEST_F(BrokerClient, OneDeadlineHoldsOverEverything) {
  for (const ScriptedConnection& silent : {ScriptedConnection{Open::kOk, {}, Io::kTimeout},
                                           ScriptedConnection{Open::kOk, {"HPID"}, Io::kTimeout}}) {
    world_.script = {fails(Open::kBacklogFull), silent};
    const int64_t before_ns = world_.now_ns;
    EXPECT_EQ(world_.ask(500).reason, Reason::kBrokerTimeout);
    EXPECT_LE(world_.now_ns - before_ns, 501 * kMs);
  }
}

TEST_F(BrokerClient, SaysWhyItWillNotAsk) {
  world_.script = {fails(Open::kUntrusted)};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerUntrusted);
  world_.script = {fails(Open::kNoPermission)};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerRefused);
}

// Whatever is not the answer about this very process is none.
TEST_F(BrokerClient, RefusesAnswersAboutSomebodyElse) {
  ExtendedAnswer other = right_answer(world_, kHostPid);
  other.pid_namespace = 556;
  world_.script = {says(Command::kExtended, other)};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerNonsense);

  other = right_answer(world_, kHostPid);
  other.start_time = 4243;
  world_.script = {says(Command::kExtended, other)};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerNonsense);

  world_.self.in_initial_pid_namespace = true;  // getpid() is 7, and that is the host PID
  world_.script = {right()};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerNonsense);
  EXPECT_EQ(world_.ask().host_pid, 0);
}

TEST_F(BrokerClient, TakesWhatEitherSideDoesNotKnowForNoContradiction) {
  ExtendedAnswer answer = right_answer(world_, kHostPid);
  answer.pid_namespace = 0;
  answer.start_time = 0;
  world_.script = {says(Command::kExtended, answer)};
  EXPECT_EQ(world_.ask().reason, Reason::kNone);
  world_.self.start_time = 0;
  world_.self.pid_namespace = 0;
  world_.script = {says(Command::kExtended, right_answer(world_, kHostPid))};
  EXPECT_EQ(world_.ask().reason, Reason::kNone);
}

TEST_F(BrokerClient, RefusesBytesThatAreNoAnswer) {
  const std::string whole = answer_bytes(Command::kExtended, right_answer(world_, kHostPid));
  std::string wrong_magic = whole;
  wrong_magic[0] = 'X';
  for (const std::string& bytes : {wrong_magic, whole + "x", std::string("HTTP/1.1 200 OK")}) {
    world_.script = {{Open::kOk, {bytes}, Io::kClosed}};
    EXPECT_EQ(world_.ask().reason, Reason::kBrokerNonsense) << bytes;
  }
  world_.script = {says(Command::kExtended, status_only(WireStatus::kPeerGone))};
  EXPECT_EQ(world_.ask().reason, Reason::kBrokerNonsense);
}

TEST_F(BrokerClient, WorksWithoutRandomness) {
  world_.has_randomness = false;
  world_.script = {fails(Open::kBacklogFull), right()};
  EXPECT_EQ(world_.ask().reason, Reason::kNone);
}

}  // namespace
}  // namespace rollcall::hostpid
