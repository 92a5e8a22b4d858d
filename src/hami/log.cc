// A strict reading. The texts are those of HAMi-core's public versions; anything
// that does not look exactly like them says nothing, because the lines of many
// processes stand in one file and a garbled one must not become somebody's PID.
#include "hami/log.h"

#include <charconv>
#include <limits>

namespace rollcall::hami {
namespace {

// What is said of the discovery begins with one of these; can_tell() knows their first letters.
constexpr std::string_view kAssigned = "hostPid=";
constexpr std::string_view kHostPidError = "host pid is error!";
constexpr std::string_view kHostPidNotFound = "HOST PID NOT FOUND.";
constexpr std::string_view kSetTaskPidFailed = "SET_TASK_PID FAILED";
constexpr std::string_view kLockTimeout = "Skipped host PID detection due to lock timeout";
constexpr std::string_view kTelling[] = {kAssigned, kHostPidError, kHostPidNotFound, kSetTaskPidFailed,
                                         kLockTimeout};
static_assert(can_tell(kAssigned[0]) && can_tell(kHostPidError[0]) && can_tell(kHostPidNotFound[0]) &&
              can_tell(kSetTaskPidFailed[0]) && can_tell(kLockTimeout[0]));

// A PID is a positive pid_t; the kernel's own limit is lower (4,194,304, PID_MAX_LIMIT in
// include/linux/threads.h), but 32-bit numbers are what regions and other kernels may hold.
constexpr int64_t kMaxPid = std::numeric_limits<int32_t>::max();

bool take(std::string_view& text, std::string_view literal) {
  if (!text.starts_with(literal)) return false;
  text.remove_prefix(literal.size());
  return true;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits only: no sign, no blank.
std::optional<int64_t> take_number(std::string_view& text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "FILE:LINE)]: "
bool take_place(std::string_view& text) {
  constexpr std::string_view kEnd = ")]: ";
  const size_t end = text.find(kEnd);
  if (end == std::string_view::npos) return false;
  std::string_view place = text.substr(0, end);
  // A line that was cut before this, and another one after it: the end is the other one's.
  if (place.find(kLogStart) != std::string_view::npos) return false;
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  place.remove_prefix(colon + 1);
  if (!take_number(place) || !place.empty()) return false;
  text.remove_prefix(end + kEnd.size());
  return true;
}

// The speaker, and `text` is left as the message.
std::optional<int64_t> take_prefix(std::string_view& text) {
  if (!take(text, kLogStart)) return std::nullopt;
  const bool error = take(text, "ERROR (pid:");
  if (!error && !take(text, "Info(") && !take(text, "Msg(") && !take(text, "Warn(") &&
      !take(text, "Debug(")) {
    return std::nullopt;
  }
  const auto pid = take_number(text);
  if (!pid || *pid == 0 || *pid > kMaxPid || !take(text, error ? " thread=" : ":")) return std::nullopt;
  if (!take_number(text) || !take(text, error ? " " : ":") || !take_place(text)) return std::nullopt;
  return pid;
}

// Whether a message that was cut after these words could have told something. Of no word
// at all it cannot be said; so empty messages, which are none, are not meant.
bool was_about_to_tell(std::string_view words) {
  if (words.empty()) return false;
  for (const std::string_view text : kTelling) {
    if (words.starts_with(text) || text.starts_with(words)) return true;
  }
  return false;
}

void fail(LogLine& line, LogSays says, const char* reason) {
  line.says = says;
  line.reason = reason;
}

void interpret(std::string_view message, LogLine& line) {
  const size_t next = message.find(kLogStart);
  if (next != std::string_view::npos) {  // two lines in one
    if (was_about_to_tell(message.substr(0, next))) line.says = LogSays::kUnclear;
    return;
  }
  if (message.starts_with('\0')) {  // what stood in the hole is not known
    const size_t rest = message.find_first_not_of('\0');
    if (rest != std::string_view::npos && was_about_to_tell(message.substr(rest)))
      line.says = LogSays::kUnclear;
    return;
  }
  if (take(message, kAssigned)) {
    const auto assigned = take_number(message);
    // A newer version says after a blank where it has it from.
    if (!assigned || *assigned == 0 || *assigned > kMaxPid || (!message.empty() && message.front() != ' ')) {
      line.says = LogSays::kUnclear;
      return;
    }
    line.says = LogSays::kAssigned;
    line.assigned_pid = assigned;
  } else if (message.starts_with(kHostPidError)) {
    fail(line, LogSays::kFailed, "host_pid_error");
  } else if (message.starts_with(kHostPidNotFound)) {
    fail(line, LogSays::kFailed, "host_pid_not_found");
  } else if (message.starts_with(kSetTaskPidFailed)) {
    fail(line, LogSays::kFailed, "set_task_pid_failed");
  } else if (message.starts_with(kLockTimeout)) {
    fail(line, LogSays::kGaveUpLock, "lock_timeout");
  }
}

}  // namespace

std::optional<LogPrefix> parse_log_prefix(std::string_view text) {
  const size_t all = text.size();
  const auto pid = take_prefix(text);
  if (!pid) return std::nullopt;
  return LogPrefix{*pid, all - text.size()};
}

std::optional<LogLine> parse_log_line(std::string_view text) {
  while (text.starts_with('\0')) text.remove_prefix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  const auto pid = take_prefix(text);
  if (!pid) return std::nullopt;
  LogLine line;
  line.pid = *pid;
  interpret(text, line);
  return line;
}

}  // namespace rollcall::hami
