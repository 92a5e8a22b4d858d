// A file that others read at any time: it is replaced whole, by rename.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::broker {

// Writes `content` beside `path` (as path + ".tmp") and gives it that name. Not flushed
// to the disk: after a crash of the machine it is written again.
base::Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace rollcall::broker
