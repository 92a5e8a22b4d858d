// rollcall-probe nested-retain: what a retain of the primary context costs when the
// process has none yet (cold), directly inside that one (nested), and once more
// after the nested one was released while the first is still held (while held): the
// last shows that an inner release does not tear the context down.
#include "probe/commands.h"
#include "probe/cuda_driver.h"

namespace rollcall::probe {
namespace {

base::Result<gpu::CuContext> timed_retain(const CudaDriver& driver, gpu::CuDevice device, const char* key,
                                          Json* json) {
  gpu::CuContext context = nullptr;
  const int64_t start_ns = base::monotonic_ns();
  const gpu::CuResult result = driver.primary_retain(&context, device);
  const int64_t end_ns = base::monotonic_ns();
  if (auto done = driver.check("cuDevicePrimaryCtxRetain", result); !done)
    return tl::unexpected(done.error());
  (*json)[key] = milliseconds(end_ns - start_ns);
  return context;
}

base::Result<void> measure(Json* json) {
  const auto driver = CudaDriver::load();
  if (!driver) return tl::unexpected(driver.error());
  const auto device = driver->open_device(0);
  if (!device) return tl::unexpected(device.error());
  const auto release = [&] {
    return driver->check("cuDevicePrimaryCtxRelease", driver->primary_release(*device));
  };
  const auto cold = timed_retain(*driver, *device, "cold_retain_ms", json);
  if (!cold) return tl::unexpected(cold.error());
  const auto nested = timed_retain(*driver, *device, "nested_retain_ms", json);
  if (!nested) return tl::unexpected(nested.error());
  if (auto done = release(); !done) return done;
  const auto held = timed_retain(*driver, *device, "retain_while_held_ms", json);
  if (!held) return tl::unexpected(held.error());
  (*json)["same_ctx"] = *cold == *nested && *cold == *held;
  if (auto done = release(); !done) return done;
  return release();
}

}  // namespace

int run_nested_retain(const Arguments&) {
  Json json;
  if (const auto done = measure(&json); !done) return no_answer(std::move(json), done.error());
  return answer(json);
}

}  // namespace rollcall::probe
