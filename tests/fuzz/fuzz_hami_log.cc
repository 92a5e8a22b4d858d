// The lines of a log that many processes write at once, cut and mixed in any way:
// what parse_log_line makes of them is nothing, or a statement that the line alone
// can carry. A PID that nobody wrote as such would be a wrong identity.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.h"
#include "hami/log.h"

namespace {

using rollcall::hami::LogLine;
using rollcall::hami::LogSays;
using rollcall::hami::parse_log_line;

constexpr size_t kMaxLines = 8;
constexpr size_t kMaxLineBytes = 256;  // of those that are cut everywhere, in time quadratic in it

bool same(const std::optional<LogLine>& a, const std::optional<LogLine>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->pid == b->pid && a->says == b->says && a->assigned_pid == b->assigned_pid &&
         std::string_view(a->reason) == b->reason;
}

// Whether it says how a discovery went.
bool says_something(const std::optional<LogLine>& line) {
  return line && (line->says == LogSays::kAssigned || line->says == LogSays::kFailed ||
                  line->says == LogSays::kGaveUpLock);
}

// Whether the text has this number, whole.
bool has_number(std::string_view text, int64_t number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string digits = std::to_string(number);
  for (size_t at = text.find(digits); at != std::string_view::npos; at = text.find(digits, at + 1)) {
    size_t before = at;
    while (before > 0 && text[before - 1] == '0') --before;  // leading zeros change nothing
    const size_t after = at + digits.size();
    if ((before == 0 || !is_digit(text[before - 1])) && (after == text.size() || !is_digit(text[after]))) {
      return true;
    }
  }
  return false;
}

// Whether the text says "hostPid=" and this number, and after it nothing or a blank.
bool says_host_pid(std::string_view text, int64_t number) {
  constexpr std::string_view kWords = "hostPid=";
  if (text.ends_with('\r')) text.remove_suffix(1);
  for (size_t at = text.find(kWords); at != std::string_view::npos; at = text.find(kWords, at + 1)) {
    std::string_view rest = text.substr(at + kWords.size());
    rest = rest.substr(0, rest.find(' '));
    if (rest.find_first_not_of("0123456789") == std::string_view::npos && has_number(rest, number))
      return true;
  }
  return false;
}

void check_statement(std::string_view text, const LogLine& line) {
  HOLDS(line.pid > 0);
  HOLDS(has_number(text, line.pid));
  HOLDS(line.assigned_pid.has_value() == (line.says == LogSays::kAssigned));
  if (line.assigned_pid) {
    HOLDS(*line.assigned_pid > 0);
    HOLDS(says_host_pid(text, *line.assigned_pid));
  }
  const std::string_view reason = line.reason;
  if (line.says == LogSays::kFailed) {
    HOLDS(reason == "host_pid_error" || reason == "host_pid_not_found" || reason == "set_task_pid_failed");
  } else {
    HOLDS(reason == (line.says == LogSays::kGaveUpLock ? "lock_timeout" : ""));
  }
}

void check_line(std::string_view text) {
  const auto line = parse_log_line(text);
  HOLDS(same(line, parse_log_line(text)));
  if (line) check_statement(text, *line);
  // How the line ended, and a hole before it, are not part of what it says.
  if (!text.ends_with('\r')) HOLDS(same(line, parse_log_line(std::string(text) + '\r')));
  HOLDS(same(line, parse_log_line(std::string(2, '\0') + std::string(text))));
}

// One line, cut anywhere, and another one at once after it: whose statement that
// would be is not known.
void check_run_into(std::string_view first, std::string_view second) {
  if (!parse_log_line(first) || !parse_log_line(second)) return;
  if (first.front() == '\0' || second.front() == '\0') return;
  for (size_t cut = 1; cut <= first.size(); ++cut) {
    HOLDS(!says_something(parse_log_line(std::string(first.substr(0, cut)) + std::string(second))));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_line(text);
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kMaxLines) {
    const std::string_view line = rollcall::fuzz::take_until(text, '\n');
    check_line(line);
    if (line.size() <= kMaxLineBytes) lines.push_back(line);
  }
  for (const std::string_view first : lines) {
    for (const std::string_view second : lines) check_run_into(first, second);
  }
  return 0;
}
