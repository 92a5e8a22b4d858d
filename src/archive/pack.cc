// See archive.h. The list of members goes to tar by itself, so that what is packed is
// what was checked, and a file that appears meanwhile is not in it.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <vector>

#include "archive/archive.h"
#include "archive/stream.h"
#include "archive/tar.h"
#include "base/files.h"
#include "evidence/layout.h"
#include "evidence/limits.h"
#include "evidence/seal.h"
#include "evidence/sha256.h"

namespace rollcall::archive {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSumLength = 64;

base::Result<void> check_sealed(const fs::path& evidence) {
  std::error_code error;
  if (!fs::is_directory(evidence, error)) {
    return base::usage_error(evidence.string(), "expected an evidence folder, found none");
  }
  const auto seal = evidence::check_seal(evidence);
  if (!seal) return tl::unexpected<base::Error>(seal.error());
  if (seal->state == evidence::SealState::kUnfinished) {
    return base::usage_error(
        evidence.string(),
        fmt::format("the experiment is unfinished: it has no {}", evidence::kChecksumsFile),
        "go on with it first: rollcall run --resume --out " + evidence.string());
  }
  if (seal->state == evidence::SealState::kBroken) {
    return tl::unexpected(base::Error{
        base::ErrorKind::kDifference, (evidence / evidence::kChecksumsFile).string(),
        "does not agree with the folder: " + seal->difference, "evidence that was changed is not packed"});
  }
  return {};
}

// The files that the seal names and the seal itself, each ended by NUL.
std::string member_list(const std::string& sums, size_t& files) {
  std::string list = std::string(evidence::kChecksumsFile) + '\0';
  for (size_t at = 0; at < sums.size();) {
    const size_t end = sums.find('\n', at);
    list += sums.substr(at + kSumLength + 2, end - at - kSumLength - 2) + '\0';
    ++files;
    at = end + 1;
  }
  return list;
}

base::Result<base::Fd> memory_file(const std::string& content) {
  base::Fd fd(memfd_create("members", MFD_CLOEXEC));
  if (!fd.valid()) return base::system_failure("memory", "make a file in it", errno);
  for (size_t done = 0; done < content.size();) {
    const ssize_t wrote =
        pwrite(fd.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (wrote < 0 && errno != EINTR) return base::system_failure("memory", "write", errno);
    if (wrote > 0) done += static_cast<size_t>(wrote);
  }
  return fd;
}

std::vector<std::string> tar_arguments(const fs::path& evidence, const std::string& folder) {
  return {"--create", "--format=gnu", "--mtime=@0", "--owner=root:0", "--group=root:0", "--numeric-owner",
          "--mode=a-x,u=rwX,go=rX", "--no-acls", "--no-selinux", "--no-xattrs", "--hard-dereference",
          "--no-recursion",
          // Names of members only, whatever characters they hold.
          fmt::format("--transform=s,^,{}/,r", folder), "--directory=" + evidence.string(), "--null",
          "--verbatim-files-from",
          // Last, because options after it would not reach its members.
          "--files-from=-"};
}

}  // namespace

base::Result<Packed> pack(const fs::path& evidence, const fs::path& out) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(out, error))) {
    return base::usage_error("--out " + out.string(), "exists; nothing is overwritten",
                             "choose another name");
  }
  if (auto outside = evidence::check_outside(out, evidence); !outside) {
    return tl::unexpected<base::Error>(outside.error());
  }
  if (auto sealed = check_sealed(evidence); !sealed) return tl::unexpected<base::Error>(sealed.error());
  const auto sums = base::read_file(evidence / evidence::kChecksumsFile, evidence::kMaxChecksumsBytes);
  if (!sums) return tl::unexpected<base::Error>(sums.error());
  const auto seal_sum = evidence::sha256_hex(*sums);
  if (!seal_sum) return tl::unexpected<base::Error>(seal_sum.error());

  Packed packed;
  packed.folder = "rollcall-" + seal_sum->substr(0, 16);
  auto members = memory_file(member_list(*sums, packed.files));
  if (!members) return tl::unexpected<base::Error>(members.error());
  auto file = base::NewFile::create(out);
  if (!file) return tl::unexpected<base::Error>(file.error());
  auto tar = Tar::start(tar_arguments(evidence, packed.folder), Tar::Stream::kFromTar, std::move(*members));
  if (!tar) return tl::unexpected<base::Error>(tar.error());
  evidence::Sha256 sum;
  const auto compressed = compress_stream(tar->stream(), [&](std::string_view piece) {
    sum.add(piece);
    packed.size_bytes += piece.size();
    return file->write(piece);
  });
  if (!compressed) return tl::unexpected<base::Error>(compressed.error());
  if (auto ended = tar->wait(); !ended) return tl::unexpected<base::Error>(ended.error());
  const auto hex = sum.hex();
  if (!hex) return tl::unexpected<base::Error>(hex.error());
  packed.sha256 = *hex;
  // Somebody may have changed a file while it was packed.
  if (auto sealed = check_sealed(evidence); !sealed) return tl::unexpected<base::Error>(sealed.error());
  if (auto named = file->finish(); !named) return tl::unexpected<base::Error>(named.error());
  return packed;
}

}  // namespace rollcall::archive
