// Two programs that write one evidence folder would each seal what the other is
// still writing, so whoever writes holds a lock on the directory itself: it needs
// no file in the folder, and ends with its holder.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::evidence {

// Does not wait: a folder that is locked is a usage error.
base::Result<base::Fd> lock_folder(const std::filesystem::path& path);

}  // namespace rollcall::evidence
