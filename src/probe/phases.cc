// rollcall-probe phases: the time of each step of a discovery by snapshot
// difference, without any shim, and what each step returned: 0, or the refusal. The entry
// sizes are measured afterwards, in a second context, so that they cost no step.
#include "probe/commands.h"
#include "probe/cuda_driver.h"
#include "probe/nvml_driver.h"

namespace rollcall::probe {
namespace {

class Steps {
 public:
  explicit Steps(Json* json) : json_(*json) {}

  // Times one step, by its name without the unit. `step` returns a Result<…>.
  template <typename Step>
  auto time(const char* name, Step step) {
    const int64_t start_ns = base::monotonic_ns();
    auto result = step();
    const int64_t end_ns = base::monotonic_ns();
    if (result) json_[std::string(name) + "_ms"] = milliseconds(end_ns - start_ns);
    json_["results"][name] = result ? Json(0) : Json(evidence::clean_text(result.error().line()));
    return result;
  }

 private:
  Json& json_;
};

base::Result<void> measure(Json* json) {
  Steps steps(json);
  const auto driver = CudaDriver::load();
  if (!driver) return tl::unexpected(driver.error());
  const auto nvml = NvmlDriver::load();
  if (!nvml) return tl::unexpected(nvml.error());
  (*json)["results"] = Json::object();
  auto done = steps.time("cuInit", [&] { return driver->check("cuInit", driver->init(0)); });
  if (!done) return done;
  gpu::CuDevice device = 0;
  if (done = driver->check("cuDeviceGet", driver->device_get(&device, 0)); !done) return done;
  const auto uuid = driver->uuid_of(device);
  if (done = steps.time("nvmlInit", [&] { return nvml->init(); }); !done) return done;
  const auto handle = steps.time("nvmlGetHandle", [&] { return nvml->device(0); });
  if (!handle) return tl::unexpected(handle.error());
  // Ordinals of CUDA and NVML need not agree; where the pair is not known, all are listed.
  const std::optional<int> index = uuid ? nvml->index_of(*uuid) : std::nullopt;

  const int64_t start_ns = base::monotonic_ns();
  const auto before = steps.time("snapshotA", [&] { return nvml->list(index); });
  if (!before) return tl::unexpected(before.error());
  gpu::CuContext context = nullptr;
  done = steps.time("ctxRetain", [&] {
    return driver->check("cuDevicePrimaryCtxRetain", driver->primary_retain(&context, device));
  });
  if (!done) return done;
  const auto with = steps.time("snapshotB", [&] { return nvml->list(index); });
  done = steps.time("ctxRelease", [&] {
    return driver->check("cuDevicePrimaryCtxRelease", driver->primary_release(device));
  });
  const int64_t end_ns = base::monotonic_ns();
  if (!with) return tl::unexpected(with.error());
  if (!done) return done;
  (*json)["critical_section_ms"] = milliseconds(end_ns - start_ns);
  (*json)["procs_seen"] = with->size();

  Json strides = Json::object();
  if (driver->primary_retain(&context, device) == gpu::kCudaSuccess) {
    for (int version = 1; version <= 3; ++version) {
      const auto stride = nvml->stride(version);
      strides["v" + std::to_string(version)] = stride ? Json(*stride) : Json(nullptr);
    }
    driver->primary_release(device);
  }
  (*json)["stride_bytes"] = std::move(strides);
  return {};
}

}  // namespace

int run_phases(const Arguments&) {
  Json json;
  if (const auto done = measure(&json); !done) return no_answer(std::move(json), done.error());
  return answer(json);
}

}  // namespace rollcall::probe
