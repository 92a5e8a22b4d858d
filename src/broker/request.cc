// See request.h.
#include "broker/request.h"

namespace rollcall::broker {

Request::Step Request::receive(size_t received) {
  if (received == 0) return Step::kHangUp;
  length_ += received;
  switch (hostpid::parse_request(bytes_.data(), length_)) {
    case hostpid::RequestParse::kPid:
      command_ = hostpid::Command::kPid;
      return Step::kAnswer;
    case hostpid::RequestParse::kExtended:
      command_ = hostpid::Command::kExtended;
      return Step::kAnswer;
    case hostpid::RequestParse::kIncomplete:
      return Step::kWait;
    case hostpid::RequestParse::kInvalid:
      break;
  }
  return Step::kInvalid;
}

}  // namespace rollcall::broker
