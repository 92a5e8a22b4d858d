// HAMi-core's log lines. Pure: a line in, what it says out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rollcall::hami {

enum class LogSays {
  kNothing,     // a line of HAMi-core that says nothing about discovery
  kAssigned,    // hostPid=N
  kFailed,      // it says that discovery failed; `reason` says how
  kGaveUpLock,  // gave up waiting for the lock
};
struct LogLine {
  int64_t pid = 0;  // the speaker's own getpid(), from the prefix
  LogSays says = LogSays::kNothing;
  std::optional<int64_t> assigned_pid;
  const char* reason = "";  // "host_pid_error", "host_pid_not_found", "set_task_pid_failed", "lock_timeout"
};

// Unset: not a line of HAMi-core (no valid prefix). Takes lines without their end,
// with a trailing CR, with NUL bytes, cut anywhere.
std::optional<LogLine> parse_log_line(std::string_view line);

}  // namespace rollcall::hami
