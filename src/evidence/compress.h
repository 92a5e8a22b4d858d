// Regions are kept compressed: a cache file is a few megabytes of mostly zeros,
// and there is one per cache and run. The files are ordinary .zst ones, which
// zstd(1) reads.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::evidence {

// One zstd frame with content size and checksum; the same bytes give the same
// frame (with one version of the library).
base::Result<std::string> compress(std::string_view bytes);

// The content of exactly one frame. Refused before anything is allocated: a
// frame that does not say how large its content is, or one whose content is
// larger than max_bytes. `where` names the file in errors.
base::Result<std::string> decompress(std::string_view frame, size_t max_bytes, const std::string& where);

// The content of one frame that need not say how large it is (a pipe's compressor does not
// know). For frames of strangers; ours say it.
base::Result<std::string> decompress_unsized(std::string_view frame, size_t max_bytes,
                                             const std::string& where);

}  // namespace rollcall::evidence
