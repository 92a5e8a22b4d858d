// zstd as a stream, for archives that do not fit into memory. One frame at a fixed
// level with one thread: the output of several depends on how the input was divided.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::archive {

using Sink = std::function<base::Result<void>(std::string_view piece)>;

// Reads `fd` until its end and hands the compressed pieces to `sink`.
base::Result<void> compress_stream(int fd, const Sink& sink);

// Exactly one frame with a checksum, from `fd`; more than max_bytes of content, anything after the
// frame and a frame that is cut short are usage errors that name `where`.
base::Result<void> decompress_stream(int fd, size_t max_bytes, const std::string& where, const Sink& sink);

}  // namespace rollcall::archive
