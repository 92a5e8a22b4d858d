// A strict reading. The texts are those of HAMi-core's public versions; anything
// that does not look exactly like them says nothing, because the lines of many
// processes stand in one file and a garbled one must not become somebody's PID.
#include "hami/log.h"

#include <charconv>

namespace rollcall::hami {
namespace {

constexpr std::string_view kPrefix = "[HAMI-core ";

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
  if (place.find(kPrefix) != std::string_view::npos) return false;
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  place.remove_prefix(colon + 1);
  if (!take_number(place) || !place.empty()) return false;
  text.remove_prefix(end + kEnd.size());
  return true;
}

// The speaker, and `text` is left as the message.
std::optional<int64_t> take_prefix(std::string_view& text) {
  if (!take(text, kPrefix)) return std::nullopt;
  const bool error = take(text, "ERROR (pid:");
  if (!error && !take(text, "Info(") && !take(text, "Msg(") && !take(text, "Warn(") &&
      !take(text, "Debug(")) {
    return std::nullopt;
  }
  const auto pid = take_number(text);
  if (!pid || *pid == 0 || !take(text, error ? " thread=" : ":")) return std::nullopt;
  if (!take_number(text) || !take(text, error ? " " : ":") || !take_place(text)) return std::nullopt;
  return pid;
}

void interpret(std::string_view message, LogLine& line) {
  if (message.find(kPrefix) != std::string_view::npos) return;  // two lines in one
  if (take(message, "hostPid=")) {
    const auto assigned = take_number(message);
    // A newer version says after a blank where it has it from.
    if (!assigned || *assigned == 0 || (!message.empty() && message.front() != ' ')) return;
    line.says = LogSays::kAssigned;
    line.assigned_pid = assigned;
  } else if (message.starts_with("host pid is error!")) {
    line.says = LogSays::kFailed;
    line.reason = "host_pid_error";
  } else if (message.starts_with("HOST PID NOT FOUND.")) {
    line.says = LogSays::kFailed;
    line.reason = "host_pid_not_found";
  } else if (message.starts_with("SET_TASK_PID FAILED")) {
    line.says = LogSays::kFailed;
    line.reason = "set_task_pid_failed";
  } else if (message.starts_with("Skipped host PID detection due to lock timeout")) {
    line.says = LogSays::kGaveUpLock;
    line.reason = "lock_timeout";
  }
}

}  // namespace

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
