// SHA-256 as lower-case hexadecimal, the form of sha256sum(1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

struct evp_md_ctx_st;  // OpenSSL's, so that its headers stay out of ours

namespace rollcall::evidence {

// Piece by piece. What libcrypto refuses meanwhile is told by hex().
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view piece);
  base::Result<std::string> hex();  // once, at the end

 private:
  evp_md_ctx_st* context_ = nullptr;
  bool good_ = false;
};

// Fails only where libcrypto itself refuses (no memory, a broken configuration).
base::Result<std::string> sha256_hex(std::string_view bytes);

// Reads the file in pieces: its size does not matter. A symbolic link is not followed.
base::Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace rollcall::evidence
