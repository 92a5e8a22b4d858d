// A shim as a file: whether the loader could take it into our workers at all, judged
// before anything is started. What it does once it is loaded is for the trial
// (shim_trial.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::study {

// Whether the bytes begin an ELF shared object for 64-bit x86; the error says what
// they are instead.
base::Result<void> check_shared_object(std::string_view head, const std::string& where);

struct ShimFile {
  std::filesystem::path path;  // absolute, without symbolic links, as /proc/PID/maps shows it
  std::string sha256;
};

// All errors are wrong usage and name `where` (the option, or the place in a plan).
base::Result<ShimFile> inspect_shim(const std::filesystem::path& file, const std::string& where);

}  // namespace rollcall::study
