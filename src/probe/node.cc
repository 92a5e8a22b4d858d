// rollcall-probe node, processes: what the driver says, with no context made. Every
// part may fail by itself; the facts say which did and why.
#include <fmt/format.h>

#include "probe/commands.h"
#include "probe/cuda_driver.h"
#include "probe/nvml_driver.h"
#include "probe/observe.h"

namespace rollcall::probe {
namespace {

// Far more than any machine has.
constexpr int kMaxDevices = 1024;

base::Result<void> ask_cuda(NodeFacts* facts) {
  const auto driver = CudaDriver::load();
  if (!driver) return tl::unexpected(driver.error());
  facts->driver_library = driver->library_file();
  int version = 0;
  if (driver->driver_get_version(&version) == gpu::kCudaSuccess && version > 0) facts->cuda_version = version;
  facts->cuinit_result = driver->init(0);
  if (auto done = driver->check("cuInit", *facts->cuinit_result); !done) return done;
  int count = 0;
  if (auto done = driver->check("cuDeviceGetCount", driver->device_get_count(&count)); !done) return done;
  if (count > kMaxDevices) {
    return base::failure("", fmt::format("cuDeviceGetCount told {} devices: not believed", count));
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    gpu::CuDevice device = 0;
    if (auto done = driver->check("cuDeviceGet", driver->device_get(&device, ordinal)); !done) return done;
    const auto uuid = driver->uuid_of(device);
    if (!uuid) return tl::unexpected(uuid.error());
    facts->cuda_uuids.push_back(*uuid);
  }
  if (count <= 0) return base::failure("", "the CUDA driver shows no device", "see CUDA_VISIBLE_DEVICES");
  return {};
}

void add_names(const NvmlDriver& nvml, std::vector<ListedProcess>* processes) {
  for (ListedProcess& process : *processes) process.name = nvml.process_name(process.pid);
}

base::Result<void> ask_nvml(NodeFacts* facts) {
  const auto nvml = NvmlDriver::load();
  if (!nvml) return tl::unexpected(nvml.error());
  if (auto done = nvml->init(); !done) return done;
  facts->driver_version = nvml->driver_version();
  const auto count = nvml->device_count();
  if (!count) return tl::unexpected(count.error());
  for (int index = 0; index < *count; ++index) {
    const auto device = nvml->device(index);
    if (!device) return tl::unexpected(device.error());
    facts->devices.push_back(nvml->describe(index, *device));
  }
  auto processes = nvml->list(std::nullopt);
  if (!processes) {
    facts->processes_error = processes.error().line();
    return {};
  }
  facts->processes_error.clear();
  facts->processes = std::move(*processes);
  add_names(*nvml, &facts->processes);
  facts->stride_v1 = nvml->stride(1);
  facts->stride_v2 = nvml->stride(2);
  facts->stride_v3 = nvml->stride(3);
  return {};
}

}  // namespace

int run_node(const Arguments&) {
  NodeFacts facts;
  if (const auto done = ask_cuda(&facts); !done) facts.cuda_error = done.error().line();
  facts.processes_error = "NVML was not asked";
  if (const auto done = ask_nvml(&facts); !done) {
    facts.nvml_error = done.error().line();
    facts.processes_error = facts.nvml_error;
  }
  return write_out(print_node_facts(facts)) ? kAnswered : kNoAnswer;
}

int run_processes(const Arguments&) {
  const auto nvml = NvmlDriver::load();
  if (!nvml) return no_answer({}, nvml.error());
  if (const auto done = nvml->init(); !done) return no_answer({}, done.error());
  auto processes = nvml->list(std::nullopt);
  if (!processes) return no_answer({}, processes.error());
  add_names(*nvml, &*processes);
  return write_out(print_processes(*processes)) ? kAnswered : kNoAnswer;
}

}  // namespace rollcall::probe
