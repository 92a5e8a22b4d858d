// rollcall-probe context LABEL: three retain and release cycles of the primary
// context after one to warm up, under whatever else runs on the node meanwhile; the
// label says what that is.
#include "probe/commands.h"
#include "probe/cuda_driver.h"

namespace rollcall::probe {
namespace {

constexpr int kCycles = 3;

base::Result<void> measure(Json* json) {
  const auto driver = CudaDriver::load();
  if (!driver) return tl::unexpected(driver.error());
  const auto device = driver->open_device(0);
  if (!device) return tl::unexpected(device.error());
  for (int cycle = 0; cycle <= kCycles; ++cycle) {
    gpu::CuContext context = nullptr;
    const int64_t start_ns = base::monotonic_ns();
    const gpu::CuResult retained = driver->primary_retain(&context, *device);
    const int64_t middle_ns = base::monotonic_ns();
    if (auto done = driver->check("cuDevicePrimaryCtxRetain", retained); !done) return done;
    const int64_t release_ns = base::monotonic_ns();
    const gpu::CuResult released = driver->primary_release(*device);
    const int64_t end_ns = base::monotonic_ns();
    if (auto done = driver->check("cuDevicePrimaryCtxRelease", released); !done) return done;
    if (cycle == 0) {
      (*json)["warmup_pair_ms"] = milliseconds(middle_ns - start_ns + end_ns - release_ns);
    } else {
      (*json)["retain" + std::to_string(cycle) + "_ms"] = milliseconds(middle_ns - start_ns);
      (*json)["release" + std::to_string(cycle) + "_ms"] = milliseconds(end_ns - release_ns);
    }
  }
  return {};
}

}  // namespace

int run_context(const Arguments& arguments) {
  Json json;
  json["cond"] = evidence::clean_text(arguments[0]);
  if (const auto done = measure(&json); !done) return no_answer(std::move(json), done.error());
  return answer(json);
}

}  // namespace rollcall::probe
