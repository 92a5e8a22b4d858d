// SHA-256 as lower-case hexadecimal, the form of sha256sum(1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::evidence {

// Fails only where libcrypto itself refuses (no memory, a broken configuration).
base::Result<std::string> sha256_hex(std::string_view bytes);

// Reads the file in pieces: its size does not matter. A symbolic link is not followed.
base::Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace rollcall::evidence
