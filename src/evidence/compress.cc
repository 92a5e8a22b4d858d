// A thin layer over libzstd. Single-threaded and at a fixed level, because the
// output of several threads depends on how the input was divided.
#include "evidence/compress.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

namespace rollcall::evidence {
namespace {

// zstd's own default. Higher levels gain nothing on zeros.
constexpr int kLevel = 3;

}  // namespace

base::Result<std::string> compress(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (context == nullptr) return base::failure("zstd", "no memory for compressing");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 1);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) {
    return base::failure("zstd",
                         fmt::format("cannot compress {} bytes: {}", bytes.size(), ZSTD_getErrorName(size)));
  }
  frame.resize(size);
  return frame;
}

base::Result<std::string> decompress(std::string_view frame, size_t max_bytes, const std::string& where) {
  const unsigned long long content = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return base::usage_error(where, "not a zstd frame");
  if (content == ZSTD_CONTENTSIZE_UNKNOWN) {
    return base::usage_error(where, "a zstd frame that does not tell the size of its content");
  }
  if (content > max_bytes) {
    return base::usage_error(
        where, fmt::format("its content is {} bytes; at most {} are expected", content, max_bytes));
  }
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return base::usage_error(where,
                             "expected exactly one zstd frame; it is cut short or something follows it");
  }
  std::string bytes(content, '\0');
  const size_t size = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) {
    return base::usage_error(where, fmt::format("a damaged zstd frame: {}", ZSTD_getErrorName(size)));
  }
  if (size != bytes.size())
    return base::usage_error(where, "a damaged zstd frame: its size is not as it says");
  return bytes;
}

base::Result<std::string> decompress_unsized(std::string_view frame, size_t max_bytes,
                                             const std::string& where) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) return base::failure("zstd", "no memory for decompressing");
  constexpr size_t kPieceBytes = size_t{256} << 10;
  std::string bytes;
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  for (;;) {
    const size_t had = bytes.size();
    bytes.resize(had + kPieceBytes);
    ZSTD_outBuffer out{bytes.data() + had, kPieceBytes, 0};
    const size_t rest = ZSTD_decompressStream(context.get(), &out, &in);
    bytes.resize(had + out.pos);
    if (ZSTD_isError(rest) != 0) {
      return base::usage_error(where, fmt::format("a damaged zstd frame: {}", ZSTD_getErrorName(rest)));
    }
    if (bytes.size() > max_bytes) {
      return base::usage_error(
          where, fmt::format("its content is more than the {} bytes expected at most", max_bytes));
    }
    if (rest == 0) break;
    if (in.pos == in.size && out.pos < kPieceBytes)
      return base::usage_error(where, "a zstd frame that was cut short");
  }
  if (in.pos != in.size) return base::usage_error(where, "something follows the zstd frame");
  return bytes;
}

}  // namespace rollcall::evidence
