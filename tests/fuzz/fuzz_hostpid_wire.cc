// Both parsers of HPID, and the state of a broker's connection, given any bytes in pieces
// of any size. A PID that was not sent as one would be a wrong identity; an answer that
// depends on how the bytes were cut would be one sometimes.
//
// The first byte says which side reads; the second how the rest is cut.
#include <algorithm>
#include <cstring>
#include <memory>

#include "broker/request.h"
#include "fuzz.h"
#include "hostpid/wire.h"

namespace {

using namespace rollcall;
using broker::Request;
using hostpid::Command;
using hostpid::ExtendedAnswer;
using hostpid::Parse;
using hostpid::WireStatus;

// Until it ends; pieces of 1 … `most` bytes.
Request::Step run_request(const uint8_t* data, size_t size, size_t most, Request& request) {
  Request::Step step = Request::Step::kWait;
  for (size_t at = 0; step == Request::Step::kWait;) {
    HOLDS(request.room() > 0);
    const size_t piece = std::min({most, size - at, request.room()});
    std::memcpy(request.space(), data + at, piece);
    at += piece;
    step = request.receive(piece);
  }
  return step;
}

void check_request(const uint8_t* data, size_t size, size_t most) {
  Request pieces;
  const Request::Step step = run_request(data, size, most, pieces);
  unsigned char right[hostpid::kRequestBytes];
  const auto begins_with = [&](Command command) {
    hostpid::write_request(command, right);
    return size >= sizeof right && std::memcmp(data, right, sizeof right) == 0;
  };
  if (step == Request::Step::kAnswer) {
    HOLDS(begins_with(pieces.command()));
  } else {
    // Nothing is wrong with eight right bytes but more that came with them.
    HOLDS(!(begins_with(Command::kPid) || begins_with(Command::kExtended)) || size > sizeof right);
  }
  // The first byte that is wrong ends it, however it is cut.
  if (step == Request::Step::kInvalid) {
    Request single;
    const Request::Step one = run_request(data, size, 1, single);
    HOLDS(one == Request::Step::kInvalid || one == Request::Step::kAnswer);
  }
  if (step == Request::Step::kHangUp) HOLDS(size < sizeof right);
}

bool same(const ExtendedAnswer& a, const ExtendedAnswer& b) {
  return a.status == b.status && a.pid == b.pid && a.view == b.view && a.start_time == b.start_time &&
         a.pid_namespace == b.pid_namespace && std::memcmp(a.boot_id, b.boot_id, sizeof a.boot_id) == 0;
}

void check_answer(Command command, const uint8_t* data, size_t size) {
  // Byte by byte: once it is not incomplete, it stays what it is, or has bytes too many.
  Parse before = Parse::kIncomplete;
  for (size_t length = 0; length <= std::min<size_t>(size, 64); ++length) {
    ExtendedAnswer answer;
    const auto bytes = std::make_unique<unsigned char[]>(length);  // so that a byte beyond it is seen
    std::copy(data, data + length, bytes.get());
    const Parse parse = hostpid::parse_answer(command, bytes.get(), length, &answer);
    if (before == Parse::kMalformed) HOLDS(parse == Parse::kMalformed);
    if (before == Parse::kComplete) HOLDS(parse != Parse::kIncomplete);
    before = parse;
    if (parse != Parse::kComplete) continue;
    HOLDS(length >= hostpid::kAnswerBytes);
    HOLDS((answer.status == WireStatus::kOk) == (answer.pid != 0));
    HOLDS(answer.pid <= 0x7fffffffU);
    const uint32_t sent = static_cast<uint32_t>(data[8]) << 24 | static_cast<uint32_t>(data[9]) << 16 |
                          static_cast<uint32_t>(data[10]) << 8 | data[11];
    HOLDS(answer.pid == sent);
    if (answer.status != WireStatus::kOk) continue;
    HOLDS(length == (command == Command::kPid ? hostpid::kAnswerBytes : hostpid::kExtendedAnswerBytes));
    // Written again it is the same bytes, and read again the same answer.
    unsigned char again[hostpid::kExtendedAnswerBytes];
    HOLDS(hostpid::write_answer(command, answer, again) == length);
    HOLDS(std::memcmp(again, data, length) == 0);
    ExtendedAnswer twice;
    HOLDS(hostpid::parse_answer(command, again, length, &twice) == Parse::kComplete);
    HOLDS(same(answer, twice));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t most = data[1] % 12 + 1;
  switch (data[0] % 3) {
    case 0:
      check_request(data + 2, size - 2, most);
      break;
    case 1:
      check_answer(Command::kPid, data + 2, size - 2);
      break;
    case 2:
      check_answer(Command::kExtended, data + 2, size - 2);
      break;
  }
  return 0;
}
