// Reads /proc with plain system calls and a fixed buffer: no allocation and no
// stdio, because the callers may be inside any program at any moment.
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

namespace rollcall::base {

int open_pidfd(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

int signal_pidfd(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

ssize_t read_small_file(const char* path, char* buffer, size_t capacity) {
  const Fd fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return -1;
  size_t length = 0;
  while (length < capacity) {
    const ssize_t got = read(fd.get(), buffer + length, capacity - length);
    if (got < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(length);
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Parses a decimal number at *at; false on no digit or on overflow.
bool parse_number(const char** at, const char* end, uint64_t* value) {
  const char* p = *at;
  if (p == end || !is_digit(*p)) return false;
  uint64_t result = 0;
  for (; p < end && is_digit(*p); ++p) {
    const auto digit = static_cast<uint64_t>(*p - '0');
    if (result > (UINT64_MAX - digit) / 10) return false;
    result = result * 10 + digit;
  }
  *at = p;
  *value = result;
  return true;
}

// What follows the command name of a stat line; null if there is no name. The
// name may hold anything, so its end is the last ')'.
const char* after_name(const char* text, size_t length) {
  const char* at = nullptr;
  for (const char* p = text; p < text + length; ++p) {
    if (*p == ')') at = p + 1;
  }
  return at;
}

// 52 fields of at most 20 digits and a name of at most 64 bytes fit.
constexpr size_t kStatBytes = 2048;

uint64_t start_time_from(const char* path) {
  char text[kStatBytes];
  const ssize_t length = read_small_file(path, text, sizeof text);
  return length > 0 ? parse_start_time(text, static_cast<size_t>(length)) : 0;
}

ssize_t read_stat(pid_t pid, char* text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const Fd fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return -1;
  // The kernel gives the whole line at once, with its end; asking again would only find
  // that there is no more, and the broker does this for each of its clients.
  size_t length = 0;
  while (length < kStatBytes && (length == 0 || text[length - 1] != '\n')) {
    const ssize_t got = read(fd.get(), text + length, kStatBytes - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(length);
}

// The link reads "pid:[4026531836]". Reading it is half the work of stat(), which would
// have to open the namespace.
uint64_t namespace_of_link(const char* path) {
  const char key[] = "pid:[";
  char text[64];
  const ssize_t length = readlink(path, text, sizeof text);
  const char* at = text + sizeof key - 1;
  const char* end = text + length;
  uint64_t inode = 0;
  if (length <= static_cast<ssize_t>(sizeof key) || memcmp(text, key, sizeof key - 1) != 0) return 0;
  return parse_number(&at, end, &inode) && at + 1 == end && *at == ']' ? inode : 0;
}

}  // namespace

uint64_t parse_start_time(const char* text, size_t length) {
  const char* end = text + length;
  const char* at = after_name(text, length);
  if (at == nullptr) return 0;
  // Field 2 ended at ')'; field 22 is the twentieth after it.
  for (int field = 3; field <= 22; ++field) {
    while (at < end && *at == ' ') ++at;
    if (at == end) return 0;
    if (field == 22) break;
    while (at < end && *at != ' ') ++at;
  }
  uint64_t value = 0;
  return parse_number(&at, end, &value) ? value : 0;
}

uint64_t process_start_time(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  return start_time_from(path);
}

uint64_t own_start_time() {
  return start_time_from("/proc/self/stat");
}

char process_state(pid_t pid) {
  char text[kStatBytes];
  const ssize_t length = read_stat(pid, text);
  const char* at = length > 0 ? after_name(text, static_cast<size_t>(length)) : nullptr;
  return at != nullptr && at + 1 < text + length ? at[1] : '\0';
}

uint64_t pid_namespace_inode(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/pid", static_cast<int>(pid));
  return namespace_of_link(path);
}

uint64_t own_pid_namespace_inode() {
  return namespace_of_link("/proc/self/ns/pid");
}

size_t parse_nspid(const char* text, size_t length, pid_t* pids, size_t capacity) {
  const char key[] = "NSpid:";
  const size_t key_length = sizeof key - 1;
  const char* end = text + length;
  const char* line = text;
  while (line < end) {
    const char* stop = static_cast<const char*>(memchr(line, '\n', static_cast<size_t>(end - line)));
    if (stop == nullptr) stop = end;
    if (static_cast<size_t>(stop - line) > key_length && memcmp(line, key, key_length) == 0) {
      const char* at = line + key_length;
      size_t count = 0;
      while (count < capacity) {
        while (at < stop && (*at == ' ' || *at == '\t')) ++at;
        if (at == stop) return count;
        uint64_t value = 0;
        if (!parse_number(&at, stop, &value) || value > INT32_MAX) return 0;
        pids[count++] = static_cast<pid_t>(value);
      }
      return count;
    }
    line = stop < end ? stop + 1 : end;
  }
  return 0;
}

}  // namespace rollcall::base
