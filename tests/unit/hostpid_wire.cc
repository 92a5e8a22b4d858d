// HPID version 1, byte by byte, in both roles. The bytes are written out, so that both
// sides cannot be wrong in the same way and still agree.
#include <gtest/gtest.h>

#include <climits>
#include <vector>

#include "hostpid/wire.h"

namespace rollcall::hostpid {
namespace {

using Bytes = std::vector<unsigned char>;

const Bytes kPidRequest = {'H', 'P', 'I', 'D', 0, 1, 0, 1};
const Bytes kExtendedRequest = {'H', 'P', 'I', 'D', 0, 1, 0, 2};
const Bytes kPidAnswer = {'H', 'P', 'I', 'D', 0, 1, 0, 0, 0, 0x12, 0x34, 0x56};
const Bytes kExtendedAnswer = {
    'H',  'P',  'I',  'D',  0,    1,    0,    0,    0,    0x12, 0x34, 0x56,  // as above
    0,    0,    0,    2,    0,    0,    0,    0,                             // translated; reserved
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,                          // start time
    0,    0,    0,    0,    0xF0, 0x00, 0x00, 0x1C,                          // namespace
    0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF,
};

// The fields of kExtendedAnswer.
ExtendedAnswer extended() {
  ExtendedAnswer answer;
  answer.pid = 0x123456;
  answer.view = HOSTPID_VIEW_TRANSLATED;
  answer.start_time = 0x0102030405060708;
  answer.pid_namespace = 0xF000001C;
  for (size_t i = 0; i < sizeof answer.boot_id; ++i) answer.boot_id[i] = static_cast<unsigned char>(0xA0 + i);
  return answer;
}

Bytes with(Bytes bytes, size_t at, unsigned char value) {
  bytes.at(at) = value;
  return bytes;
}

Parse parse(Command command, const Bytes& bytes, ExtendedAnswer* answer = nullptr) {
  ExtendedAnswer unused;
  return parse_answer(command, bytes.data(), bytes.size(), answer != nullptr ? answer : &unused);
}

RequestParse parse(const Bytes& bytes) {
  return parse_request(bytes.data(), bytes.size());
}

Bytes written(Command command, const ExtendedAnswer& answer) {
  Bytes bytes(kExtendedAnswerBytes, 0xEE);
  bytes.resize(write_answer(command, answer, bytes.data()));
  return bytes;
}

void expect_same(const ExtendedAnswer& found, const ExtendedAnswer& expected) {
  EXPECT_EQ(found.status, expected.status);
  EXPECT_EQ(found.pid, expected.pid);
  EXPECT_EQ(found.view, expected.view);
  EXPECT_EQ(found.start_time, expected.start_time);
  EXPECT_EQ(found.pid_namespace, expected.pid_namespace);
  EXPECT_EQ(Bytes(found.boot_id, found.boot_id + 16), Bytes(expected.boot_id, expected.boot_id + 16));
}

// --- the client ---

TEST(WireClient, WritesTheEightBytesOfARequest) {
  Bytes bytes(kRequestBytes, 0xEE);
  write_request(Command::kPid, bytes.data());
  EXPECT_EQ(bytes, kPidRequest);
  write_request(Command::kExtended, bytes.data());
  EXPECT_EQ(bytes, kExtendedRequest);
}

TEST(WireClient, ReadsAnAnswerToEachCommand) {
  ExtendedAnswer answer;
  EXPECT_EQ(parse(Command::kPid, kPidAnswer, &answer), Parse::kComplete);
  ExtendedAnswer pid_alone;
  pid_alone.pid = 0x123456;
  expect_same(answer, pid_alone);
  EXPECT_EQ(parse(Command::kExtended, kExtendedAnswer, &answer), Parse::kComplete);
  expect_same(answer, extended());
}

TEST(WireClient, EveryBeginningOfAnAnswerIsIncomplete) {
  for (size_t length = 0; length < kAnswerBytes; ++length) {
    const Bytes begun(kPidAnswer.begin(), kPidAnswer.begin() + static_cast<long>(length));
    EXPECT_EQ(parse(Command::kPid, begun), Parse::kIncomplete) << length;
  }
  for (size_t length = 0; length < kExtendedAnswerBytes; ++length) {
    const Bytes begun(kExtendedAnswer.begin(), kExtendedAnswer.begin() + static_cast<long>(length));
    EXPECT_EQ(parse(Command::kExtended, begun), Parse::kIncomplete) << length;
  }
}

TEST(WireClient, MoreThanAnAnswerIsMalformed) {
  Bytes more = kPidAnswer;
  more.push_back(0);
  EXPECT_EQ(parse(Command::kPid, more), Parse::kMalformed);
  EXPECT_EQ(parse(Command::kPid, kExtendedAnswer), Parse::kMalformed);
  more = kExtendedAnswer;
  more.push_back(0);
  EXPECT_EQ(parse(Command::kExtended, more), Parse::kMalformed);
}

TEST(WireClient, AnotherMagicOrVersionIsMalformedAtItsFirstByte) {
  for (size_t at = 0; at < 6; ++at) {
    for (const Bytes& answer : {kPidAnswer, kExtendedAnswer}) {
      const Command command = answer.size() == kAnswerBytes ? Command::kPid : Command::kExtended;
      Bytes wrong = with(answer, at, static_cast<unsigned char>(answer[at] ^ 0x20));
      EXPECT_EQ(parse(command, wrong), Parse::kMalformed) << at;
      wrong.resize(at + 1);
      EXPECT_EQ(parse(command, wrong), Parse::kMalformed) << at << ", cut off behind it";
    }
  }
}

TEST(WireClient, AFailureIsCompleteWithTwelveBytesAndNamesNobody) {
  for (const Command command : {Command::kPid, Command::kExtended}) {
    for (unsigned char status = 1; status <= 3; ++status) {
      const Bytes refusal = {'H', 'P', 'I', 'D', 0, 1, 0, status, 0, 0, 0, 0};
      ExtendedAnswer answer;
      EXPECT_EQ(parse(command, refusal, &answer), Parse::kComplete);
      EXPECT_EQ(static_cast<unsigned>(answer.status), status);
      EXPECT_EQ(answer.pid, 0U);
      EXPECT_EQ(parse(command, with(refusal, 11, 1)), Parse::kMalformed) << "a failure with a PID";
    }
  }
  // Whatever follows the twelve is not needed.
  Bytes whole = with(kExtendedAnswer, 7, 2);
  std::fill(whole.begin() + 8, whole.end(), 0);
  ExtendedAnswer answer;
  EXPECT_EQ(parse(Command::kExtended, whole, &answer), Parse::kComplete);
  EXPECT_EQ(answer.status, WireStatus::kBusy);
}

TEST(WireClient, AnUnknownStatusIsMalformed) {
  Bytes refusal = {'H', 'P', 'I', 'D', 0, 1, 0, 4, 0, 0, 0, 0};
  EXPECT_EQ(parse(Command::kPid, refusal), Parse::kMalformed);
  EXPECT_EQ(parse(Command::kPid, with(kPidAnswer, 6, 1)), Parse::kMalformed) << "256 is not 0";
}

TEST(WireClient, APidThatNoProcessHasIsMalformed) {
  const auto answer = [](unsigned char a, unsigned char b, unsigned char c, unsigned char d) {
    return Bytes{'H', 'P', 'I', 'D', 0, 1, 0, 0, a, b, c, d};
  };
  EXPECT_EQ(parse(Command::kPid, answer(0, 0, 0, 0)), Parse::kMalformed);
  EXPECT_EQ(parse(Command::kPid, answer(0x80, 0, 0, 0)), Parse::kMalformed);
  EXPECT_EQ(parse(Command::kPid, answer(0xFF, 0xFF, 0xFF, 0xFF)), Parse::kMalformed);
  EXPECT_EQ(parse(Command::kPid, answer(0, 0, 0, 1)), Parse::kComplete);
  EXPECT_EQ(parse(Command::kPid, answer(0x7F, 0xFF, 0xFF, 0xFF)), Parse::kComplete);
  // Known as soon as the twelve bytes are there.
  EXPECT_EQ(parse(Command::kExtended, answer(0, 0, 0, 0)), Parse::kMalformed);
}

TEST(WireClient, AnUnknownViewOrFlagOrAReservedBitIsMalformed) {
  for (unsigned char view = 0; view <= 2; ++view)
    EXPECT_EQ(parse(Command::kExtended, with(kExtendedAnswer, 15, view)), Parse::kComplete);
  EXPECT_EQ(parse(Command::kExtended, with(kExtendedAnswer, 15, 3)), Parse::kMalformed);
  EXPECT_EQ(parse(Command::kExtended, with(kExtendedAnswer, 15, 2 | 4)), Parse::kMalformed);
  for (const size_t at : {12U, 13U, 14U, 16U, 17U, 18U, 19U})
    EXPECT_EQ(parse(Command::kExtended, with(kExtendedAnswer, at, 1)), Parse::kMalformed) << at;
}

TEST(WireClient, NothingOfAnEarlierAnswerStays) {
  ExtendedAnswer answer = extended();
  EXPECT_EQ(parse(Command::kPid, {}, &answer), Parse::kIncomplete);
  expect_same(answer, {});
}

// --- the server ---

TEST(WireServer, KnowsBothCommands) {
  EXPECT_EQ(parse(kPidRequest), RequestParse::kPid);
  EXPECT_EQ(parse(kExtendedRequest), RequestParse::kExtended);
}

TEST(WireServer, EveryBeginningOfARequestIsIncomplete) {
  for (size_t length = 0; length < kRequestBytes; ++length) {
    EXPECT_EQ(parse(Bytes(kPidRequest.begin(), kPidRequest.begin() + static_cast<long>(length))),
              RequestParse::kIncomplete)
        << length;
  }
}

TEST(WireServer, AnyOtherByteIsInvalidAtOnce) {
  for (size_t at = 0; at < kRequestBytes; ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes request = with(kPidRequest, at, static_cast<unsigned char>(value));
      if (request == kPidRequest || request == kExtendedRequest) continue;
      EXPECT_EQ(parse(request), RequestParse::kInvalid) << at << " " << value;
      request.resize(at + 1);
      EXPECT_EQ(parse(request), RequestParse::kInvalid) << at << " " << value << ", cut off behind it";
    }
  }
}

TEST(WireServer, MoreThanARequestIsInvalid) {
  Bytes more = kPidRequest;
  more.push_back('H');
  EXPECT_EQ(parse(more), RequestParse::kInvalid);
}

TEST(WireServer, WritesTheBytesOfAnAnswer) {
  EXPECT_EQ(written(Command::kPid, extended()), kPidAnswer);
  EXPECT_EQ(written(Command::kExtended, extended()), kExtendedAnswer);
}

TEST(WireServer, NamesNobodyInAFailure) {
  ExtendedAnswer busy = extended();
  busy.status = WireStatus::kBusy;
  EXPECT_EQ(written(Command::kPid, busy), (Bytes{'H', 'P', 'I', 'D', 0, 1, 0, 2, 0, 0, 0, 0}));
  const Bytes whole = written(Command::kExtended, busy);
  EXPECT_EQ(Bytes(whole.begin() + 8, whole.begin() + 12), Bytes(4, 0));
}

// --- both ---

TEST(Wire, WhatTheServerWritesTheClientReads) {
  for (const uint32_t pid : {1U, 255U, 256U, 65536U, static_cast<uint32_t>(INT_MAX)}) {
    for (const auto view : {HOSTPID_VIEW_UNKNOWN, HOSTPID_VIEW_GLOBAL, HOSTPID_VIEW_TRANSLATED}) {
      ExtendedAnswer answer = extended();
      answer.pid = pid;
      answer.view = view;
      answer.start_time = UINT64_MAX - pid;
      ExtendedAnswer found;
      EXPECT_EQ(parse(Command::kExtended, written(Command::kExtended, answer), &found), Parse::kComplete);
      expect_same(found, answer);
    }
  }
  for (const auto status : {WireStatus::kInvalidRequest, WireStatus::kBusy, WireStatus::kPeerGone}) {
    ExtendedAnswer refusal;
    refusal.status = status;
    for (const Command command : {Command::kPid, Command::kExtended}) {
      ExtendedAnswer found;
      EXPECT_EQ(parse(command, written(command, refusal), &found), Parse::kComplete);
      expect_same(found, refusal);
    }
  }
}

}  // namespace
}  // namespace rollcall::hostpid
