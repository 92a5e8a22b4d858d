// Follows a log that many processes are writing, and remembers what each of them
// said last. Only what is new is read, so that asking for every worker of a run
// costs one reading of its log; and only so much at a time that a log of gigabytes
// cannot stall the launcher.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rollcall::study {

// What a process said about its own discovery.
struct Statement {
  enum class Says {
    kAssigned,
    kFailed,
    kUnclear,  // it spoke, but not in a way that can be understood
  };
  Says says = Says::kUnclear;
  int64_t assigned_pid = 0;  // for kAssigned
  const char* reason = "";   // for kFailed; text that outlives the follower
  // Says only that it failed: a cause that the same process named before stays.
  bool general = false;
};

// From one line, without its end.
struct Heard {
  int64_t own_pid = 0;  // the speaker's own getpid()
  Statement statement;
};
using Interpret = std::function<std::optional<Heard>(std::string_view line)>;

class LogFollower {
 public:
  static constexpr size_t kMaxLineBytes = size_t{64} << 10;  // longer lines are skipped
  static constexpr uint64_t kMaxBytesAtOnce = uint64_t{64} << 20;
  static constexpr size_t kMaxSpeakers = 65'536;

  enum class State {
    kWhole,       // heard to the end that it had when it was asked
    kBehind,      // more was written than is read at once; the next call goes on
    kMissing,     // there is no such file
    kUnreadable,  // it cannot be opened or read, or is no regular file
    kTruncated,   // no longer has what was read: cut, replaced or written over. For good
  };

  LogFollower(std::filesystem::path path, Interpret interpret)
      : path_(std::move(path)), interpret_(std::move(interpret)) {}

  // Reads what is new. A line whose end is missing waits for it.
  State follow();

  // What this process said last; null if nothing.
  [[nodiscard]] const Statement* last_of(int64_t own_pid) const;
  // Somebody spoke who is not remembered.
  [[nodiscard]] bool has_forgotten() const { return has_forgotten_; }

 private:
  bool same_file(int fd, dev_t device, ino_t inode, uint64_t size_bytes);
  void take(std::string_view bytes);
  void hear(std::string_view line);

  std::filesystem::path path_;
  Interpret interpret_;
  bool truncated_ = false;
  bool opened_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  uint64_t offset_ = 0;
  std::string last_bytes_;  // before offset_: what must still stand there
  std::string partial_;     // a line whose end has not come
  bool skipping_ = false;   // in a line that is too long
  bool has_forgotten_ = false;
  std::unordered_map<int64_t, Statement> last_;
};

}  // namespace rollcall::study
