// Which source an arm has, and which one a cache file that was found calls for.
#include "study/identity_source.h"

#include <algorithm>
#include <cstring>

#include "hami/region.h"
#include "shim/region.h"
#include "study/identity_parts.h"

namespace rollcall::study {
namespace {

class NoSource : public IdentitySource {
 public:
  evidence::Discovery read(const evidence::WorkerRecord&) override { return {}; }
};

std::string version(int64_t major, int64_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string why_not_hami(const hami::RegionSummary& found) {
  switch (found.check) {
    case hami::RegionCheck::kValid:
      break;
    case hami::RegionCheck::kForeign:
      return "it begins like no region that is known";
    case hami::RegionCheck::kOtherVersion:
      return "it is HAMi-core's of version " + version(found.major, found.minor) + ", known is " +
             version(hami::kRegionMajor, hami::kRegionMinor);
    case hami::RegionCheck::kBlank:
      return "it is blank: nobody has set it up";
    case hami::RegionCheck::kTruncated:
      return "it is HAMi-core's, but has only " + std::to_string(found.size_bytes) + " of " +
             std::to_string(hami::kRegionBytes) + " bytes";
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<IdentitySource>> make_identity_source(const Arm& arm,
                                                                   const IdentityFiles& files) {
  switch (arm.identity) {
    case IdentitySourceKind::kRollcall:
      return make_rollcall_source(files);
    case IdentitySourceKind::kHamiCore:
      return make_hami_source(files);
    case IdentitySourceKind::kLog:
      return make_log_source(arm.log, files, "arm " + arm.name);
    case IdentitySourceKind::kNone:
    case IdentitySourceKind::kAuto:
      break;
  }
  return std::make_unique<NoSource>();
}

DetectedSource detect_identity_source(const std::filesystem::path& cache) {
  const auto file = RegionFile::open(cache);
  if (!file) {
    const bool missing = std::string_view(file.error()) == "region_missing";
    return {IdentitySourceKind::kNone, missing ? "there is no such file" : "it cannot be read as a file"};
  }
  alignas(shim::RegionHeader) unsigned char bytes[sizeof(shim::RegionHeader)];
  memset(bytes, 0, sizeof bytes);
  if (!file->read_at(bytes, std::min<uint64_t>(file->size_bytes(), sizeof bytes), 0)) {
    return {IdentitySourceKind::kNone, "it shrank while it was read"};
  }
  const auto& header = *reinterpret_cast<const shim::RegionHeader*>(bytes);
  switch (shim::check_region(header, file->size_bytes())) {
    case shim::RegionCheck::kValid:
      return {IdentitySourceKind::kRollcall, ""};
    case shim::RegionCheck::kOtherVersion:
      return {IdentitySourceKind::kNone, "it is Rollcall's of version " +
                                             version(header.major, header.minor) + ", known is " +
                                             version(shim::kRegionMajor, shim::kRegionMinor)};
    case shim::RegionCheck::kDamaged:
      return {IdentitySourceKind::kNone, "it is Rollcall's, but damaged"};
    case shim::RegionCheck::kBlank:
    case shim::RegionCheck::kForeign:
      break;
  }
  const auto found = hami::check_region(
      file->size_bytes(),
      [&file](void* buffer, size_t size, uint64_t offset) { return file->read_at(buffer, size, offset); });
  if (found.check == hami::RegionCheck::kValid) return {IdentitySourceKind::kHamiCore, ""};
  return {IdentitySourceKind::kNone, why_not_hami(found)};
}

}  // namespace rollcall::study
