// What the stand-in libraries and simgpud say to each other over a Unix socket
// of type SOCK_SEQPACKET: one request, one reply, never more than one request
// of a connection at a time. Both ends are built together and always run on one
// machine, so the structs travel as they lie in memory; the magic and the
// version turn a mismatch into a refusal instead of nonsense. Who the client is
// never stands in a request: the daemon asks the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rollcall::simgpu {

inline constexpr uint32_t kMagic = 0x4d495352;  // "RSIM"
inline constexpr uint16_t kProtocolVersion = 2;

// Bounds of a node. Sixteen devices are what the HAMi-core region has room
// for; 950 is the most that NVML itself returns (gpu::kNvmlMaxProcesses).
inline constexpr unsigned kMaxGpus = 16;
inline constexpr unsigned kMaxListEntries = 950;
inline constexpr int kMaxTimeScale = 1000;
// Processes that a node takes unless it is told otherwise: the largest run of
// 4096 workers, neighbours, and room; and the most that it can be told.
inline constexpr int kDefaultMaxClients = 4608;
inline constexpr int kMaxMaxClients = 65'536;

inline constexpr const char* kSocketVariable = "ROLLCALL_SIM_SOCKET";

enum class Operation : uint16_t {
  kHello = 1,       // must be first on a connection; answers with a NodeInfo
  kCuInit,          // object: the calling thread's id in its own namespace; see Server::plan_listing
  kContextCreate,   // gpu → value: context id
  kContextDestroy,  // object: context id
  kMemoryAllocate,  // object: context id, size → value: device pointer
  kMemoryFree,      // object: device pointer
  kMemoryInfo,      // gpu → value: bytes free, value2: bytes in all
  kNvmlInit,
  kListProcesses,  // gpu → value: count, then that many ListEntry
  kLast = kListProcesses,
};

enum class Status : uint32_t {
  kOk = 0,
  kInvalid,         // malformed, or out of order; the daemon then closes the connection
  kOutOfMemory,     // does not fit on the device, or more objects than a process may have
  kNotInitialized,  // the process has not called cuInit yet
  kUnknownObject,   // no such GPU, context or allocation of this process
  kTooManyClients,  // the daemon's bound is reached; it then closes the connection
  kUnidentified,    // the kernel does not say who the client is; closed too
  kFailed,          // an injected fault: the call fails
  kNoPermission,    // this node refuses NVML
};

// What the client does to itself before cuInit returns. Zero: nothing.
enum class Order : uint32_t { kNone = 0, kCrash, kStop, kExit, kKill };

struct Request {
  uint32_t magic = kMagic;
  uint16_t version = kProtocolVersion;
  uint16_t operation = 0;
  uint32_t gpu = 0;
  uint32_t reserved = 0;
  uint64_t object = 0;
  uint64_t size = 0;
};
static_assert(sizeof(Request) == 32);

struct Reply {
  uint32_t magic = kMagic;
  Status status = Status::kOk;
  Order order = Order::kNone;
  uint32_t payload_bytes = 0;
  uint64_t value = 0;
  uint64_t value2 = 0;
};
static_assert(sizeof(Reply) == 32);

// Bits of NodeInfo::features.
inline constexpr uint32_t kFeaturePersistence = 1;

struct NodeInfo {
  uint32_t gpus = 0;
  int32_t cuda_version = 0;
  int32_t multiprocessors = 0;
  int32_t threads_per_multiprocessor = 0;
  uint32_t features = 0;
  uint32_t reserved = 0;
  uint64_t memory_bytes = 0;
  char device_name[64] = {};     // ends with a NUL
  char driver_version[64] = {};  // ends with a NUL
};
static_assert(sizeof(NodeInfo) == 160);

struct ListEntry {
  uint32_t pid = 0;  // as the caller's view has it
  uint32_t reserved = 0;
  uint64_t used_bytes = 0;
};
static_assert(sizeof(ListEntry) == 16);

inline constexpr size_t kMaxPayloadBytes = kMaxListEntries * sizeof(ListEntry);
inline constexpr size_t kMaxReplyBytes = sizeof(Reply) + kMaxPayloadBytes;
static_assert(sizeof(NodeInfo) <= kMaxPayloadBytes);

// Whether `length` bytes that arrived are a request that this version understands.
inline bool well_formed(const Request& request, size_t length) {
  return length == sizeof(Request) && request.magic == kMagic && request.version == kProtocolVersion &&
         request.operation >= static_cast<uint16_t>(Operation::kHello) &&
         request.operation <= static_cast<uint16_t>(Operation::kLast) && request.reserved == 0;
}

// The same for a reply.
inline bool well_formed(const Reply& reply, size_t length) {
  return length >= sizeof(Reply) && length <= kMaxReplyBytes && reply.magic == kMagic &&
         reply.payload_bytes == length - sizeof(Reply);
}

}  // namespace rollcall::simgpu
