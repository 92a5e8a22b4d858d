// rollcall-probe view-child: the process that `view` watches. It makes a context when
// it is told to and says what it then sees of itself. A second thread initialises
// the driver, so that a driver that lists the id of the thread which opened the
// device gives itself away: for a process with one thread the two are the same.
#include "probe/view_child.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/process.h"
#include "probe/channel.h"
#include "probe/commands.h"
#include "probe/cuda_driver.h"
#include "probe/infer.h"
#include "probe/nvml_driver.h"

namespace rollcall::probe {
namespace {

constexpr size_t kMaxStatusBytes = 65536;

// Threads in this process's own namespace: what each status file says last.
std::set<int64_t> own_thread_ids() {
  std::set<int64_t> ids = {gettid()};
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return ids;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const auto status =
        base::read_file(fmt::format("/proc/self/task/{}/status", entry->d_name), kMaxStatusBytes);
    pid_t pids[base::kMaxPidNamespaces];
    const size_t count =
        status ? base::parse_nspid(status->data(), status->size(), pids, base::kMaxPidNamespaces) : 0;
    if (count > 0) ids.insert(pids[count - 1]);
  }
  closedir(tasks);
  return ids;
}

std::optional<uint64_t> kib_after(const std::string& text, const char* key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + at + std::strlen(key), nullptr, 10);
}

// Resident memory that is this process's own: without pages of files.
std::optional<uint64_t> own_memory_bytes() {
  const auto status = base::read_file("/proc/self/status", kMaxStatusBytes);
  if (!status) return std::nullopt;
  const auto anonymous = kib_after(*status, "RssAnon:");
  const auto shared = kib_after(*status, "RssShmem:");
  if (anonymous && shared) return (*anonymous + *shared) * 1024;
  const auto resident = kib_after(*status, "VmRSS:");
  return resident ? std::optional(*resident * 1024) : std::nullopt;
}

Json json_of(const std::vector<ListedProcess>& processes) {
  Json list = Json::array();
  for (const ListedProcess& process : processes) {
    list.push_back(
        Json::array({process.pid, process.memory_bytes ? Json(*process.memory_bytes) : Json(nullptr)}));
  }
  return list;
}

// Waits for a word of the parent; whatever comes is the word that is due.
base::Result<void> await_word(const Channel& channel) {
  const auto received = channel.receive(kViewStepMs);
  if (!received) return tl::unexpected(received.error());
  return {};
}

base::Result<void> be_watched(const Channel& channel) {
  const auto driver = CudaDriver::load();
  if (!driver) return tl::unexpected(driver.error());
  std::promise<gpu::CuResult> initialised;
  std::promise<int64_t> thread_id;
  std::thread([&] {
    thread_id.set_value(gettid());
    initialised.set_value(driver->init(0));
    for (;;) pause();  // to the end of the process: it is to be seen among its threads
  }).detach();
  if (auto done = driver->check("cuInit", initialised.get_future().get()); !done) return done;
  const auto device = driver->open_device(0);
  if (!device) return tl::unexpected(device.error());
  const auto uuid = driver->uuid_of(*device);
  const auto nvml = NvmlDriver::load();
  if (!nvml) return tl::unexpected(nvml.error());
  if (auto done = nvml->init(); !done) return done;
  const std::optional<int> index = uuid ? nvml->index_of(*uuid) : std::nullopt;
  const auto before = nvml->list(index);
  if (!before) return tl::unexpected(before.error());
  Json message;
  message["own_pid"] = getpid();
  message["uuid"] = uuid.value_or("");
  message["before"] = json_of(*before);
  if (auto done = channel.send(message); !done) return done;

  if (auto done = await_word(channel); !done) return done;
  gpu::CuContext context = nullptr;
  auto done = driver->check("cuDevicePrimaryCtxRetain", driver->primary_retain(&context, *device));
  if (!done) return done;
  const auto with = nvml->list(index);
  if (!with) return tl::unexpected(with.error());
  message = Json();
  message["with"] = json_of(*with);
  std::set<int64_t> threads = own_thread_ids();
  threads.insert(thread_id.get_future().get());
  message["thread_ids"] = threads;
  if (const auto memory = own_memory_bytes()) message["host_memory_bytes"] = *memory;
  for (int version = 1; version <= 3; ++version) {
    if (const auto stride = nvml->stride(version)) message["stride_v" + std::to_string(version)] = *stride;
  }
  if (done = channel.send(message); !done) return done;

  if (done = await_word(channel); !done) return done;
  done = driver->check("cuDevicePrimaryCtxRelease", driver->primary_release(*device));
  if (!done) return done;
  const auto after = nvml->list_without(came(pids_of(*before), pids_of(*with)), index);
  if (!after) return tl::unexpected(after.error());
  message = Json();
  message["after"] = json_of(*after);
  return channel.send(message);
}

}  // namespace

int run_view_child(const Arguments& arguments) {
  char* end = nullptr;
  const long fd = std::strtol(arguments[0].c_str(), &end, 10);
  if (*end != '\0' || fd != kViewChildFd) return kUsage;
  const Channel channel{base::Fd(static_cast<int>(fd))};
  const auto done = be_watched(channel);
  if (done) return kAnswered;
  Json message;
  message["error"] = evidence::clean_text(done.error().line());
  (void)channel.send(message);
  return kNoAnswer;
}

}  // namespace rollcall::probe
