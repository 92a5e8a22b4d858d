// A folder for what an archive unpacks to. It may hold gigabytes, so it goes however
// this process ends: a child makes it, waits for that and removes what is left.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::archive {

class TemporaryFolder {
 public:
  TemporaryFolder() = default;  // none
  // In TMPDIR, open to this user alone. Forks, so: before any thread is started.
  static base::Result<TemporaryFolder> make();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();  // removes it

  // Empty: there is none.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void remove();
  std::filesystem::path path_;
  pid_t guardian_ = -1;
  base::Fd alive_;  // the guardian sees its other end close
};

// Lets this user enter every folder below, this one included, and read every file.
void make_accessible(const std::filesystem::path& folder);

}  // namespace rollcall::archive
