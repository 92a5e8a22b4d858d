// See region_file.h.
#include "importer/region_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>

#include "evidence/compress.h"

namespace rollcall::importer {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr size_t kPieceBytes = size_t{256} << 10;

// Ends the stream whatever happens.
struct Inflater {
  z_stream stream{};
  bool good = false;
  Inflater() { good = inflateInit2(&stream, 15 + 16) == Z_OK; }  // the largest window, gzip's header
  ~Inflater() {
    if (good) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

base::Result<std::string> unpack_gzip(std::string_view packed, const std::string& where) {
  Inflater inflater;
  if (!inflater.good) return base::failure("zlib", "no memory for decompressing");
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib does not write it
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string bytes;
  for (;;) {
    const size_t had = bytes.size();
    bytes.resize(had + kPieceBytes);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + had);
    stream.avail_out = static_cast<uInt>(kPieceBytes);
    const int status = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(bytes.size() - stream.avail_out);
    if (bytes.size() > kMaxRegionBytes) {
      return base::usage_error(
          where, fmt::format("more than the {} bytes that a region has at most", kMaxRegionBytes));
    }
    if (status == Z_STREAM_END) break;
    if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      return base::usage_error(where, "the gzip file was cut short");
    }
    if (status != Z_OK) return base::usage_error(where, "a damaged gzip file");
  }
  if (stream.avail_in != 0) return base::usage_error(where, "something follows the gzip file's end");
  return bytes;
}

}  // namespace

base::Result<std::string> unpack_region(std::string_view packed, const std::string& where) {
  if (packed.size() > kMaxRegionBytes) {
    return base::usage_error(
        where, fmt::format("more than the {} bytes that a region has at most", kMaxRegionBytes));
  }
  if (packed.starts_with(kGzipMagic)) return unpack_gzip(packed, where);
  if (packed.starts_with(kZstdMagic)) return evidence::decompress_unsized(packed, kMaxRegionBytes, where);
  return std::string(packed);
}

RegionReading read_region(std::string_view region) {
  const hami::ReadAt read_at = [region](void* buffer, size_t size, uint64_t offset) {
    if (offset > region.size() || size > region.size() - offset) return false;
    memcpy(buffer, region.data() + offset, size);
    return true;
  };
  RegionReading reading;
  reading.fault = hami::fault_of(hami::check_region(region.size(), read_at).check);
  if (reading.fault != nullptr) return reading;
  auto slots = hami::read_slots(read_at);
  if (slots) reading.slots = std::move(*slots);
  if (!slots) reading.fault = "region_truncated";
  return reading;
}

hami::Verdict RegionReading::verdict_of(int64_t pid) const {
  if (fault != nullptr) return {hami::Says::kNothing, 0, fault};
  hami::FoundSlot found;
  for (const hami::Slot& slot : slots) {
    if (slot.pid != pid) continue;
    const bool differs = found.check == hami::SlotCheck::kFound && found.host_pid != slot.host_pid;
    if (differs) return hami::verdict_of({hami::SlotCheck::kTwoDiffer});
    found = {hami::SlotCheck::kFound, slot.host_pid};
  }
  return hami::verdict_of(found);
}

}  // namespace rollcall::importer
