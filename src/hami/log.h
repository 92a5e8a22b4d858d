// HAMi-core's log lines. Pure: a line in, what it says out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rollcall::hami {

enum class LogSays {
  kNothing,     // a line of HAMi-core that says nothing about discovery
  kAssigned,    // hostPid=N
  kFailed,      // it says that discovery failed; `reason` says how
  kGaveUpLock,  // gave up waiting for the lock
  kUnclear,     // it was about to say one of these, and its text is cut or is none
};
// How every line of HAMi-core begins.
inline constexpr std::string_view kLogStart = "[HAMI-core ";

// Whether a message that begins so can be anything but kNothing. For readers of large
// logs, which need not look closer at the others.
constexpr bool can_tell(char first) {
  // NUL: a hole in the file, behind which it may go on.
  return first == 'h' || first == 'H' || first == 'S' || first == '\0';
}

// The part of a line before its message.
struct LogPrefix {
  int64_t pid = 0;
  size_t bytes = 0;  // the message begins here
};
// Unset: the line does not begin with a valid one. Nothing is skipped before it.
std::optional<LogPrefix> parse_log_prefix(std::string_view line);

struct LogLine {
  int64_t pid = 0;  // the speaker's own getpid(), from the prefix
  LogSays says = LogSays::kNothing;
  std::optional<int64_t> assigned_pid;
  const char* reason = "";  // "host_pid_error", "host_pid_not_found", "set_task_pid_failed", "lock_timeout"
};

// Unset: not a line of HAMi-core (no valid prefix). Takes any bytes: a trailing CR,
// leading NUL bytes (the hole in a file that was cut while it was written), lines cut
// anywhere. Where two lines ran into one, it says nothing, or is unclear if it was about
// to say something: half a number is a number. A line must be given whole for the same reason.
std::optional<LogLine> parse_log_line(std::string_view line);

}  // namespace rollcall::hami
