// GNU tar as a child process. It alone knows the format; what goes in or comes out
// is a stream here, so that it can be compressed, hashed and bounded on its way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::archive {

class Tar {
 public:
  enum class Stream { kFromTar, kToTar };

  // Starts it with the arguments after its name, in the C locale and without
  // TAR_OPTIONS. kFromTar: stream() is read until its end, `input` is its standard input.
  // kToTar: stream() is written to; a tar that ended meanwhile is EPIPE, not a signal.
  static base::Result<Tar> start(const std::vector<std::string>& arguments, Stream direction, base::Fd input);

  Tar(Tar&& other) noexcept;
  Tar& operator=(Tar&&) = delete;
  ~Tar();  // kills it if nobody waited

  [[nodiscard]] int stream() const { return stream_.get(); }
  // Closes the stream and waits; an exit status other than 0 is an error that quotes
  // the first line of what it said.
  base::Result<void> wait();

 private:
  Tar(pid_t pid, base::Fd stream, base::Fd errors)
      : pid_(pid), stream_(std::move(stream)), errors_(std::move(errors)) {}
  pid_t pid_ = -1;
  base::Fd stream_;
  base::Fd errors_;
};

}  // namespace rollcall::archive
