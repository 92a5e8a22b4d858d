// The profile "h200" against what was measured on that GPU, in model time: so
// that whoever changes a number of it, or has better measurements to put in here,
// sees at once how far the two are apart.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "simgpu/profile.h"
#include "simgpu/service_model.h"

namespace rollcall::simgpu {
namespace {

enum class Step : uint64_t { kCuInit, kRetain, kRelease };

struct Measured {
  std::string what;
  int processes;
  std::vector<Step> steps;  // of each process; all begin at once
  double low_s, high_s;     // until the last process has done its last step
};

const std::vector<Step> kInit = {Step::kCuInit};
const std::vector<Step> kHold = {Step::kCuInit, Step::kRetain};
const std::vector<Step> kProbe = {Step::kCuInit, Step::kRetain, Step::kRelease};

// Driver 580.159.04, 16 cores, no shim: the fastest and the slowest run (results/h200,
// and single runs before that).
const std::vector<Measured> kMeasured = {
    {"cuInit", 1, kInit, 0.093, 0.107}, {"cuInit", 10, kInit, 0.173, 0.19},
    {"cuInit", 50, kInit, 0.56, 1.13},  {"cuInit", 100, kInit, 1.3, 1.97},
    {"cuInit", 250, kInit, 3.8, 6.7},   {"context", 50, kHold, 9.27, 10.7},
    {"context", 100, kHold, 28.8, 30},  {"probe", 50, kProbe, 13.4, 14.6},
    {"probe", 100, kProbe, 38.1, 39.9},
};
// How far a figure of the model may lie outside the measured range.
constexpr double kTolerance = 0.05;

const OperationCost& cost_of(const Profile& profile, Step step) {
  switch (step) {
    case Step::kCuInit:
      return profile.cuinit;
    case Step::kRetain:
      return profile.context_create;
    case Step::kRelease:
      return profile.context_destroy;
  }
  return profile.cuinit;
}

double model_s(const Profile& profile, const Measured& measured) {
  ServiceModel model(1, 0, 0);
  Load load;
  std::map<uint64_t, size_t> done_steps;
  for (int i = 0; i < measured.processes; ++i) {
    model.submit(static_cast<uint64_t>(i), 0, cost_of(profile, measured.steps[0]), 0);
  }
  int64_t now_ns = 0;
  while (const auto next = model.next_event_ns()) {
    now_ns = *next;
    while (const auto done = model.advance(now_ns, load)) {
      size_t& at = done_steps[done->owner];
      if (measured.steps[at] == Step::kCuInit) ++load.clients;
      if (measured.steps[at] == Step::kRetain) ++load.contexts;
      if (measured.steps[at] == Step::kRelease) --load.contexts;
      if (++at < measured.steps.size()) {
        model.submit(done->owner, 0, cost_of(profile, measured.steps[at]), now_ns);
      }
    }
  }
  return static_cast<double>(now_ns) / 1e9;
}

TEST(ProfileH200, ComesOutAsMeasured) {
  const auto profile = load_profile(TEST_PROFILE_DIR "/h200.toml");
  ASSERT_TRUE(profile) << profile.error().line();
  for (const Measured& measured : kMeasured) {
    const double found_s = model_s(*profile, measured);
    const std::string line = measured.what + " of " + std::to_string(measured.processes) + ": measured " +
                             std::to_string(measured.low_s) + " to " + std::to_string(measured.high_s) +
                             " s, model " + std::to_string(found_s) + " s";
    std::printf("%s\n", line.c_str());
    EXPECT_GE(found_s, measured.low_s * (1 - kTolerance)) << line;
    EXPECT_LE(found_s, measured.high_s * (1 + kTolerance)) << line;
  }
}

TEST(ProfileH200, AloneEachOperationTakesWhatItTookAlone) {
  const auto profile = load_profile(TEST_PROFILE_DIR "/h200.toml");
  ASSERT_TRUE(profile) << profile.error().line();
  const auto alone_ms = [](const OperationCost& cost) { return cost.parallel_ms + cost.serial_ms; };
  EXPECT_GE(alone_ms(profile->cuinit), 93);
  EXPECT_LE(alone_ms(profile->cuinit), 107);
  EXPECT_GE(alone_ms(profile->context_create), 91);
  EXPECT_LE(alone_ms(profile->context_create), 135);
  EXPECT_GE(alone_ms(profile->context_destroy), 53);
  EXPECT_LE(alone_ms(profile->context_destroy), 66);
  // The largest run that was measured fits on the device.
  EXPECT_GE(profile->memory_mib / profile->context_mib, 250U);
}

}  // namespace
}  // namespace rollcall::simgpu
