// Parsed by hand, without allocation: the worker is libc only and small on purpose.
#include "worker/fault.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

namespace rollcall::worker {
namespace {

// The field up to the next ':' or ',' or the end; moves *at behind it.
size_t take_field(const char** at, const char** field) {
  *field = *at;
  const size_t length = strcspn(*at, ":,");
  *at += length;
  return length;
}

bool equals(const char* field, size_t length, const char* word) {
  return strlen(word) == length && memcmp(field, word, length) == 0;
}

FaultAction action_of(const char* field, size_t length) {
  if (equals(field, length, "crash")) return FaultAction::kCrash;
  if (equals(field, length, "kill")) return FaultAction::kKill;
  if (equals(field, length, "stop")) return FaultAction::kStop;
  if (equals(field, length, "exit")) return FaultAction::kExit;
  return FaultAction::kNone;
}

}  // namespace

FaultAction find_fault(const char* text, unsigned worker, const char* stage) {
  if (text == nullptr) return FaultAction::kNone;
  for (const char* at = text; *at != '\0'; at += (*at == ',')) {
    const char* field = nullptr;
    size_t length = take_field(&at, &field);
    unsigned number = 0;
    bool valid = length > 0 && length <= 6;
    for (size_t i = 0; i < length && valid; ++i) {
      valid = field[i] >= '0' && field[i] <= '9';
      number = number * 10 + static_cast<unsigned>(field[i] - '0');
    }
    if (*at != ':') return FaultAction::kNone;
    ++at;
    length = take_field(&at, &field);
    const bool here = valid && number == worker && equals(field, length, stage);
    if (*at != ':') return FaultAction::kNone;
    ++at;
    length = take_field(&at, &field);
    if (*at != ',' && *at != '\0') return FaultAction::kNone;
    if (here) return action_of(field, length);
  }
  return FaultAction::kNone;
}

void carry_out(FaultAction action) {
  switch (action) {
    case FaultAction::kNone:
      return;
    case FaultAction::kCrash:
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
      return;
    case FaultAction::kKill:
      raise(SIGKILL);
      return;
    case FaultAction::kStop:
      raise(SIGSTOP);
      return;
    case FaultAction::kExit:
      _exit(3);
  }
}

}  // namespace rollcall::worker
