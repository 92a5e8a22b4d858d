// See shim_file.h. The loader itself only warns of a library that it cannot preload,
// and goes on without it.
#include "study/shim_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "evidence/sha256.h"

namespace rollcall::study {
namespace {

const char* machine_name(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "64-bit Arm";
    case EM_ARM:
      return "32-bit Arm";
    case EM_PPC64:
      return "64-bit PowerPC";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "another processor";
  }
}

}  // namespace

base::Result<void> check_shared_object(std::string_view head, const std::string& where) {
  if (head.size() < SELFMAG || memcmp(head.data(), ELFMAG, SELFMAG) != 0) {
    return base::usage_error(where, "is not an ELF library", "expected a shared object (.so)");
  }
  Elf64_Ehdr header{};
  if (head.size() < sizeof header) return base::usage_error(where, "is an ELF file cut short");
  memcpy(&header, head.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    // e_machine stands at the same place in 32-bit files; only its byte order may differ.
    return base::usage_error(
        where, fmt::format("is built for {}, expected 64-bit x86", machine_name(header.e_machine)));
  }
  if (header.e_type != ET_DYN) {
    return base::usage_error(where, "is an ELF file, but no shared object", "expected a library (.so)");
  }
  return {};
}

base::Result<ShimFile> inspect_shim(const std::filesystem::path& file, const std::string& where) {
  std::error_code error;
  ShimFile shim;
  shim.path = std::filesystem::canonical(file, error);
  const std::string named = where.empty() ? file.string() : where + ": " + file.string();
  if (error) return base::usage_error(named, "cannot find the shim: " + error.message());
  // The loader takes these as separators, or as a name to expand, in LD_PRELOAD, with no way to quote them.
  if (shim.path.string().find_first_of(" :\t\n$") != std::string::npos) {
    return base::usage_error(named, "a path with a blank, a colon or a dollar sign cannot be preloaded",
                             "copy it to a folder without them");
  }
  const base::Fd fd(open(shim.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd.valid() || fstat(fd.get(), &info) != 0) {
    return base::usage_error(named, fmt::format("cannot read the shim: {}", std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) return base::usage_error(named, "is not a file");
  char head[sizeof(Elf64_Ehdr)];
  const ssize_t length = read(fd.get(), head, sizeof head);
  if (auto elf = check_shared_object({head, length > 0 ? static_cast<size_t>(length) : 0}, named); !elf) {
    return tl::unexpected(elf.error());
  }
  auto hash = evidence::sha256_file(shim.path);
  if (!hash) return tl::unexpected(hash.error());
  shim.sha256 = std::move(*hash);
  return shim;
}

}  // namespace rollcall::study
