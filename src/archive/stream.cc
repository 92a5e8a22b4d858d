// See stream.h.
#include "archive/stream.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <memory>
#include <vector>

namespace rollcall::archive {
namespace {

// Of 1 to 19: half the size that level 3 makes of records and logs, at some ten
// megabytes a second.
constexpr int kLevel = 9;

// The window that level needs is 4 MiB; a frame that asks for more memory was not made here.
constexpr int kMaxWindowLog = 27;

base::Result<size_t> read_piece(int fd, std::vector<char>& buffer, const std::string& where) {
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return base::system_failure(where, "read", errno);
  }
}

}  // namespace

base::Result<void> compress_stream(int fd, const Sink& sink) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (context == nullptr) return base::failure("zstd", "no memory for compressing");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> input(ZSTD_CStreamInSize());
  std::vector<char> output(ZSTD_CStreamOutSize());
  for (bool ended = false; !ended;) {
    // A stream gives pieces of any size; filling the buffer makes the frame depend on the
    // content alone.
    size_t filled = 0;
    while (filled < input.size()) {
      const ssize_t got = read(fd, input.data() + filled, input.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return base::system_failure("tar", "read", errno);
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    ended = filled < input.size();
    ZSTD_inBuffer in{input.data(), filled, 0};
    for (size_t left = 1; ended ? left != 0 : in.pos < in.size;) {
      ZSTD_outBuffer out{output.data(), output.size(), 0};
      left = ZSTD_compressStream2(context.get(), &out, &in, ended ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) return base::failure("zstd", ZSTD_getErrorName(left));
      if (auto taken = sink({output.data(), out.pos}); !taken) return taken;
    }
  }
  return {};
}

base::Result<void> decompress_stream(int fd, size_t max_bytes, const std::string& where, const Sink& sink) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) return base::failure("zstd", "no memory for decompressing");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  std::vector<char> input(ZSTD_DStreamInSize());
  std::vector<char> output(ZSTD_DStreamOutSize());
  size_t left = 1;  // 0: the frame has ended
  size_t total = 0;
  bool any = false;
  for (;;) {
    const auto got = read_piece(fd, input, where);
    if (!got) return tl::unexpected<base::Error>(got.error());
    if (*got == 0) break;
    any = true;
    ZSTD_inBuffer in{input.data(), *got, 0};
    bool full = false;  // the output was, so there may be more of it
    while (in.pos < in.size || full) {
      if (left == 0) return base::usage_error(where, "something follows the archive's one zstd frame");
      ZSTD_outBuffer out{output.data(), output.size(), 0};
      left = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(left) != 0) {
        return base::usage_error(where, fmt::format("a damaged zstd frame: {}", ZSTD_getErrorName(left)));
      }
      full = left != 0 && out.pos == out.size;
      total += out.pos;
      if (total > max_bytes) {
        return base::usage_error(
            where, fmt::format("its content is larger than the {} bytes expected at most", max_bytes));
      }
      if (auto taken = sink({output.data(), out.pos}); !taken) return taken;
    }
  }
  if (!any) return base::usage_error(where, "the file is empty");
  if (left != 0) return base::usage_error(where, "the zstd frame is cut short");
  return {};
}

}  // namespace rollcall::archive
