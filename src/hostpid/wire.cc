// Byte by byte: a struct laid over a buffer would depend on padding and byte order.
#include "hostpid/wire.h"

#include <climits>
#include <cstring>

namespace rollcall::hostpid {
namespace {

constexpr unsigned char kMagic[4] = {'H', 'P', 'I', 'D'};
constexpr uint32_t kViewMask = 3;

template <typename T>
T get(const unsigned char* at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(static_cast<T>(value << 8) | at[i]);
  return value;
}

template <typename T>
unsigned char* put(unsigned char* at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    at[i] = static_cast<unsigned char>(value >> (8 * (sizeof(T) - 1 - i)));
  return at + sizeof(T);
}

// Magic and version, of which `length` bytes are there.
bool header_fits(const unsigned char* bytes, size_t length) {
  constexpr unsigned char kHeader[6] = {'H', 'P', 'I', 'D', 0, kWireVersion};
  return length == 0 || memcmp(bytes, kHeader, length < sizeof kHeader ? length : sizeof kHeader) == 0;
}

bool known_status(uint16_t status) {
  return status <= static_cast<uint16_t>(WireStatus::kPeerGone);
}

bool parse_extension(const unsigned char* bytes, ExtendedAnswer* answer) {
  const auto flags = get<uint32_t>(bytes);
  const auto view = flags & kViewMask;
  if (flags != view || view > HOSTPID_VIEW_TRANSLATED || get<uint32_t>(bytes + 4) != 0) return false;
  answer->view = static_cast<hostpid_nvml_view>(view);
  answer->start_time = get<uint64_t>(bytes + 8);
  answer->pid_namespace = get<uint64_t>(bytes + 16);
  memcpy(answer->boot_id, bytes + 24, sizeof answer->boot_id);
  return true;
}

}  // namespace

void write_request(Command command, unsigned char out[kRequestBytes]) {
  memcpy(out, kMagic, sizeof kMagic);
  put(put(out + sizeof kMagic, kWireVersion), static_cast<uint16_t>(command));
}

Parse parse_answer(Command command, const unsigned char* bytes, size_t length, ExtendedAnswer* answer) {
  *answer = {};
  const size_t whole = command == Command::kPid ? kAnswerBytes : kExtendedAnswerBytes;
  if (length > whole || !header_fits(bytes, length)) return Parse::kMalformed;
  if (length < kAnswerBytes) return Parse::kIncomplete;
  const auto status = get<uint16_t>(bytes + 6);
  const auto pid = get<uint32_t>(bytes + 8);
  if (!known_status(status)) return Parse::kMalformed;
  answer->status = static_cast<WireStatus>(status);
  if (answer->status != WireStatus::kOk) return pid == 0 ? Parse::kComplete : Parse::kMalformed;
  if (pid == 0 || pid > INT_MAX) return Parse::kMalformed;
  answer->pid = pid;
  if (length < whole) return Parse::kIncomplete;
  if (command == Command::kExtended && !parse_extension(bytes + kAnswerBytes, answer))
    return Parse::kMalformed;
  return Parse::kComplete;
}

RequestParse parse_request(const unsigned char* bytes, size_t length) {
  if (length > kRequestBytes || !header_fits(bytes, length)) return RequestParse::kInvalid;
  if (length > 6 && bytes[6] != 0) return RequestParse::kInvalid;
  if (length < kRequestBytes) return RequestParse::kIncomplete;
  switch (static_cast<Command>(bytes[7])) {
    case Command::kPid:
      return RequestParse::kPid;
    case Command::kExtended:
      return RequestParse::kExtended;
  }
  return RequestParse::kInvalid;
}

size_t write_answer(Command command, const ExtendedAnswer& answer, unsigned char out[kExtendedAnswerBytes]) {
  const bool ok = answer.status == WireStatus::kOk;
  memcpy(out, kMagic, sizeof kMagic);
  unsigned char* at = put(out + sizeof kMagic, kWireVersion);
  at = put(put(at, static_cast<uint16_t>(answer.status)), ok ? answer.pid : 0U);
  if (command == Command::kPid) return kAnswerBytes;
  at = put(put(at, static_cast<uint32_t>(answer.view)), 0U);
  at = put(put(at, answer.start_time), answer.pid_namespace);
  memcpy(at, answer.boot_id, sizeof answer.boot_id);
  return kExtendedAnswerBytes;
}

}  // namespace rollcall::hostpid
