// SHA-256 as lower-case hexadecimal, the form of sha256sum(1).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rollcall::evidence {

// Of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // Once, after the last piece.
  base::Result<std::string> hex();

 private:
  struct Context;
  struct FreeContext {
    void operator()(Context* context) const;
  };
  std::unique_ptr<Context, FreeContext> context_;
  bool good_ = false;
};

// Fails only where libcrypto itself refuses (no memory, a broken configuration).
base::Result<std::string> sha256_hex(std::string_view bytes);

// Reads the file in pieces: its size does not matter. A symbolic link is not followed.
base::Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace rollcall::evidence
