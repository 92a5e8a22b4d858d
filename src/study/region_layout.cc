// See region_layout.h. A region may be written while it is looked at: only its
// header and the slots' PIDs are read, and nothing is mapped.
#include "study/region_layout.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "evidence/compress.h"
#include "hami/region.h"
#include "shim/region.h"
#include "shim/region_fields.h"

namespace rollcall::study {
namespace {

Layout own_layout() {
  Layout layout{"rollcall", fmt::format("{}.{}", shim::kRegionMajor, shim::kRegionMinor), {}};
  layout.numbers = {{"region_size_bytes", shim::kRegionSizeBytes},
                    {"slot_count", shim::kRegionSlots},
                    {"first_slot_offset", sizeof(shim::RegionHeader)},
                    {"slot_stride_bytes", sizeof(shim::RegionSlot)}};
  for (const shim::RegionField& field : shim::kRegionFields) {
    layout.numbers.push_back({std::string(field.name) + ".offset", field.offset});
    layout.numbers.push_back({std::string(field.name) + ".size", field.size_bytes});
  }
  return layout;
}

Layout hami_layout() {
  Layout layout{"hami-core", fmt::format("{}.{}", hami::kRegionMajor, hami::kRegionMinor), {}};
  layout.numbers = {{"region_size_bytes", hami::kRegionBytes},
                    {"slot_count", hami::kSlots},
                    {"first_slot_offset", hami::kSlotsOffset},
                    {"slot_stride_bytes", hami::kSlotBytes}};
  for (const hami::Field& field : hami::region_fields()) {
    layout.numbers.push_back({std::string(field.name) + ".offset", field.offset});
    layout.numbers.push_back({std::string(field.name) + ".size", field.size_bytes});
  }
  return layout;
}

// As much as is kept of a cache file.
constexpr size_t kMaxUnpackedBytes = size_t{64} << 20;

class File {
 public:
  static base::Result<File> open_file(const std::filesystem::path& path) {
    File file;
    // Not blocking: opening a FIFO would wait for its writer for ever.
    file.fd_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!file.fd_.valid() || fstat(file.fd_.get(), &info) != 0) {
      return base::usage_error(path.string(), fmt::format("cannot open: {}", std::strerror(errno)));
    }
    if (!S_ISREG(info.st_mode)) {
      return base::usage_error(path.string(), "expected a regular file, found something else");
    }
    file.size_bytes_ = static_cast<uint64_t>(info.st_size);
    return file;
  }

  // Regions lie compressed in evidence. What is in such a file is read like one.
  [[nodiscard]] bool is_packed() const {
    unsigned char magic[4] = {};
    return size_bytes_ >= sizeof magic && read_at(magic, sizeof magic, 0) &&
           memcmp(magic, "\x28\xb5\x2f\xfd", sizeof magic) == 0;
  }
  [[nodiscard]] base::Result<File> unpacked(const std::string& name) const {
    if (size_bytes_ > kMaxUnpackedBytes) return base::usage_error(name, "is too large for a region");
    std::string frame(size_bytes_, '\0');
    if (!read_at(frame.data(), frame.size(), 0)) return base::usage_error(name, "changed while it was read");
    const auto content = evidence::decompress(frame, kMaxUnpackedBytes, name);
    if (!content) return tl::unexpected(content.error());
    File file;
    file.fd_.reset(memfd_create("region", MFD_CLOEXEC));
    if (!file.fd_.valid()) return base::system_failure(name, "unpack", errno);
    for (size_t done = 0; done < content->size();) {
      const ssize_t written = write(file.fd_.get(), content->data() + done, content->size() - done);
      if (written < 0 && errno != EINTR) return base::system_failure(name, "unpack", errno);
      if (written > 0) done += static_cast<size_t>(written);
    }
    file.size_bytes_ = content->size();
    return file;
  }

  [[nodiscard]] bool read_at(void* buffer, size_t size, uint64_t offset) const {
    size_t done = 0;
    while (done < size) {
      const ssize_t got =
          pread(fd_.get(), static_cast<char*>(buffer) + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<size_t>(got);
    }
    return true;
  }
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }

 private:
  base::Fd fd_;
  uint64_t size_bytes_ = 0;
};

std::string misfit_of(shim::RegionCheck check) {
  switch (check) {
    case shim::RegionCheck::kValid:
      return "";
    case shim::RegionCheck::kBlank:
      return "blank: its set-up never finished";
    case shim::RegionCheck::kForeign:
      return "not a region of rollcall's";
    case shim::RegionCheck::kOtherVersion:
      return "of a version that is not known here";
    case shim::RegionCheck::kDamaged:
      return "its sizes do not fit its magic";
  }
  return "not known";
}

std::string misfit_of(hami::RegionCheck check) {
  switch (check) {
    case hami::RegionCheck::kValid:
      return "";
    case hami::RegionCheck::kForeign:
      return "neither of the known layouts";
    case hami::RegionCheck::kOtherVersion:
      return "of a version that is not known here";
    case hami::RegionCheck::kBlank:
      return "blank: its set-up never finished";
    case hami::RegionCheck::kTruncated:
      return "shorter than its layout";
  }
  return "not known";
}

// Unset: the slots cannot be read.
std::optional<uint64_t> own_slots_used(const File& file) {
  uint64_t used = 0;
  for (uint64_t slot = 0; slot < shim::kRegionSlots; ++slot) {
    int32_t pid = 0;
    if (!file.read_at(&pid, sizeof pid, sizeof(shim::RegionHeader) + slot * sizeof(shim::RegionSlot))) {
      return std::nullopt;
    }
    if (pid != 0) ++used;
  }
  return used;
}

RegionIdentity identify_own(const File& file, const shim::RegionHeader& header) {
  RegionIdentity identity;
  identity.layout = "rollcall";
  identity.version = fmt::format("{}.{}", header.major, header.minor);
  identity.size_bytes = file.size_bytes();
  identity.misfit = misfit_of(shim::check_region(header, file.size_bytes()));
  if (identity.misfit.empty()) identity.slots_used = own_slots_used(file);
  return identity;
}

RegionIdentity identify_hami(const File& file) {
  const auto read_at = [&](void* buffer, size_t size, uint64_t offset) {
    return file.read_at(buffer, size, offset);
  };
  const hami::RegionSummary summary = hami::check_region(file.size_bytes(), read_at);
  RegionIdentity identity;
  identity.size_bytes = file.size_bytes();
  identity.misfit = misfit_of(summary.check);
  if (summary.magic == hami::kRegionMagic) {
    identity.layout = "hami-core";
    identity.version = fmt::format("{}.{}", summary.major, summary.minor);
  }
  if (!identity.misfit.empty()) return identity;
  if (const auto slots = hami::read_slots(read_at)) identity.slots_used = slots->size();
  return identity;
}

}  // namespace

std::vector<Layout> known_layouts() {
  return {own_layout(), hami_layout()};
}

base::Result<RegionIdentity> identify_region(const std::filesystem::path& path) {
  auto file = File::open_file(path);
  if (file && file->is_packed()) file = file->unpacked(path.string());
  if (!file) return tl::unexpected(file.error());
  char first = 0;
  if (file->size_bytes() > 0 && !file->read_at(&first, 1, 0)) {
    return base::usage_error(path.string(), fmt::format("cannot read: {}", std::strerror(errno)));
  }
  shim::RegionHeader header{};
  const bool own = file->size_bytes() >= sizeof header && file->read_at(&header, sizeof header, 0) &&
                   header.magic.load() == shim::kRegionMagic;
  RegionIdentity identity = own ? identify_own(*file, header) : identify_hami(*file);
  if (identity.misfit.empty() && !identity.slots_used) identity.misfit = "its slots cannot be read";
  return identity;
}

}  // namespace rollcall::study
