// A thin layer over libcrypto's EVP interface.
#include "evidence/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/fd.h"

namespace rollcall::evidence {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
};

void Sha256::FreeContext::operator()(Context* context) const {
  EVP_MD_CTX_free(context->evp);
  delete context;
}

Sha256::Sha256() : context_(new Context) {
  good_ = context_->evp != nullptr && EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1;
}

void Sha256::add(std::string_view bytes) {
  good_ = good_ && EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1;
}

base::Result<std::string> Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  good_ = good_ && EVP_DigestFinal_ex(context_->evp, digest, &length) == 1;
  if (!good_) return base::failure("libcrypto", "SHA-256 is not available");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 0xF];
  }
  return text;
}

base::Result<std::string> sha256_hex(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

base::Result<std::string> sha256_file(const std::filesystem::path& path) {
  const base::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return base::system_failure(path.string(), "open", errno);
  Sha256 sum;
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t got = read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::system_failure(path.string(), "read", errno);
    if (got == 0) return sum.hex();
    sum.add({piece.data(), static_cast<size_t>(got)});
  }
}

}  // namespace rollcall::evidence
