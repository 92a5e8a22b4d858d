// The rule "stop at the first invalid entry" is the driver's documented one: a
// typing error hides devices instead of failing, which is why a launcher must
// compare what it asked for with what a worker saw.
#include "simgpu/visible_devices.h"

#include <string.h>
#include <strings.h>

#include "simgpu/uuid.h"

namespace rollcall::simgpu {
namespace {

constexpr unsigned kNoGpu = ~0u;
constexpr size_t kUuidPrefixLength = 4;  // "GPU-"

unsigned gpu_of_index(const char* text, size_t length, unsigned gpus) {
  unsigned value = 0;
  for (size_t i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return kNoGpu;
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
    if (value >= gpus) return kNoGpu;
  }
  return length == 0 ? kNoGpu : value;
}

unsigned gpu_of_uuid(const char* text, size_t length, unsigned gpus) {
  if (length <= kUuidPrefixLength || length >= kUuidTextSize) return kNoGpu;
  unsigned found = kNoGpu;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    char uuid[kUuidTextSize];
    format_uuid(gpu_uuid(gpu), uuid);
    if (strncasecmp(uuid, text, length) != 0) continue;
    if (found != kNoGpu) return kNoGpu;
    found = gpu;
  }
  return found;
}

bool contains(const VisibleDevices& devices, unsigned gpu) {
  for (unsigned i = 0; i < devices.count; ++i) {
    if (devices.gpu[i] == gpu) return true;
  }
  return false;
}

}  // namespace

VisibleDevices parse_visible_devices(const char* text, unsigned gpus) {
  if (gpus > kMaxGpus) gpus = kMaxGpus;
  VisibleDevices devices;
  if (text == nullptr) {
    for (; devices.count < gpus; ++devices.count) devices.gpu[devices.count] = devices.count;
    return devices;
  }
  for (;;) {
    const size_t entry_length = strcspn(text, ",");
    const char* begin = text;
    const char* end = text + entry_length;
    while (begin < end && (*begin == ' ' || *begin == '\t')) ++begin;
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t')) --end;
    const auto length = static_cast<size_t>(end - begin);
    const bool is_uuid = length >= kUuidPrefixLength && strncasecmp(begin, "GPU-", kUuidPrefixLength) == 0;
    const unsigned gpu = is_uuid ? gpu_of_uuid(begin, length, gpus) : gpu_of_index(begin, length, gpus);
    if (gpu == kNoGpu || contains(devices, gpu)) return devices;
    devices.gpu[devices.count++] = gpu;
    if (text[entry_length] == '\0') return devices;
    text += entry_length + 1;
  }
}

}  // namespace rollcall::simgpu
