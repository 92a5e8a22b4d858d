// Profiles: what is read, and what a wrong one is told.
#include <gtest/gtest.h>

#include <string>

#include "simgpu/profile.h"

namespace rollcall::simgpu {
namespace {

const std::string kDevice =
    "[device]\ngpus = 2\nname = \"Test GPU\"\nmemory_mib = 1000\ncontext_mib = 518\ngranularity_kib = 2048\n"
    "multiprocessors = 4\nthreads_per_multiprocessor = 1024\ncuda_version = 12040\ndriver_version = "
    "\"1.2.3\"\n";
const std::string kHead = "name = \"test\"\ndescription = \"for tests\"\n";

std::string error_of(const std::string& toml) {
  const auto profile = parse_profile(toml, "p.toml");
  if (profile) return "(no error)";
  EXPECT_EQ(profile.error().kind, base::ErrorKind::kUsage);
  return profile.error().line();
}

TEST(Profile, ReadsEveryKey) {
  const auto profile =
      parse_profile(kHead + "jitter = 0.25\n" + kDevice +
                        "[cost.cuinit]\nparallel_ms = 1.5\nserial_ms = 2\nper_client_ms = 0.25\n"
                        "per_context_ms = 0.5\ncrowd_waiting = 50\ncrowded_ms = "
                        "1.25\n[cost.context_create]\nserial_ms = 3\n"
                        "[cost.context_destroy]\nserial_ms = 4\n[cost.memory]\nserial_ms = 5\n"
                        "[cost.nvml_init]\nserial_ms = 6\n[cost.nvml_query]\nserial_ms = 7\n"
                        "[[fault]]\nnth_cuinit = 3\naction = \"stop\"\n"
                        "[[fault]]\nnth_cuinit = 4\naction = \"kill\"\n",
                    "p.toml");
  ASSERT_TRUE(profile) << profile.error().line();
  EXPECT_EQ(profile->name, "test");
  EXPECT_EQ(profile->description, "for tests");
  EXPECT_EQ(profile->jitter, 0.25);
  EXPECT_EQ(profile->gpus, 2);
  EXPECT_EQ(profile->device_name, "Test GPU");
  EXPECT_EQ(profile->memory_mib, 1000U);
  EXPECT_EQ(profile->context_mib, 518U);
  EXPECT_EQ(profile->granularity_kib, 2048U);
  EXPECT_EQ(profile->multiprocessors, 4);
  EXPECT_EQ(profile->threads_per_multiprocessor, 1024);
  EXPECT_EQ(profile->cuda_version, 12040);
  EXPECT_EQ(profile->driver_version, "1.2.3");
  EXPECT_EQ(profile->cuinit.parallel_ms, 1.5);
  EXPECT_EQ(profile->cuinit.serial_ms, 2);
  EXPECT_EQ(profile->cuinit.per_client_ms, 0.25);
  EXPECT_EQ(profile->cuinit.per_context_ms, 0.5);
  EXPECT_EQ(profile->cuinit.crowd_waiting, 50);
  EXPECT_EQ(profile->cuinit.crowded_ms, 1.25);
  EXPECT_EQ(profile->context_create.serial_ms, 3);
  EXPECT_EQ(profile->context_destroy.serial_ms, 4);
  EXPECT_EQ(profile->memory.serial_ms, 5);
  EXPECT_EQ(profile->nvml_init.serial_ms, 6);
  EXPECT_EQ(profile->nvml_query.serial_ms, 7);
  ASSERT_EQ(profile->faults.size(), 2U);
  EXPECT_EQ(profile->faults[0].nth_cuinit, 3);
  EXPECT_EQ(profile->faults[0].action, FaultAction::kStop);
  EXPECT_EQ(profile->faults[1].action, FaultAction::kKill);
}

TEST(Profile, CostsThatAreNotNamedAreZero) {
  const auto profile = parse_profile(kHead + kDevice, "p.toml");
  ASSERT_TRUE(profile) << profile.error().line();
  EXPECT_EQ(profile->cuinit.parallel_ms, 0);
  EXPECT_EQ(profile->context_create.serial_ms, 0);
  EXPECT_TRUE(profile->faults.empty());
}

TEST(Profile, ReadsHowNvmlBehaves) {
  const auto usual = parse_profile(kHead + kDevice, "p.toml");
  ASSERT_TRUE(usual) << usual.error().line();
  EXPECT_TRUE(usual->nvml.process_memory);
  EXPECT_FALSE(usual->nvml.lists_threads);
  EXPECT_TRUE(usual->nvml.persistence);
  EXPECT_FALSE(usual->nvml.refuse);
  const auto odd = parse_profile(kHead + kDevice +
                                     "[nvml]\nprocess_memory = false\nlists = \"thread\"\n"
                                     "persistence = false\nrefuse = true\n",
                                 "p.toml");
  ASSERT_TRUE(odd) << odd.error().line();
  EXPECT_FALSE(odd->nvml.process_memory);
  EXPECT_TRUE(odd->nvml.lists_threads);
  EXPECT_FALSE(odd->nvml.persistence);
  EXPECT_TRUE(odd->nvml.refuse);
  const auto nvml_error = [](const std::string& line) {
    return error_of(kHead + kDevice + "[nvml]\n" + line + "\n");
  };
  EXPECT_EQ(nvml_error("refuse = 1"), "p.toml:14:10: 'nvml.refuse' must be true or false");
  EXPECT_EQ(nvml_error("lists = \"threads\""), "p.toml:14:9: 'nvml.lists' must be \"process\" or \"thread\"");
  EXPECT_EQ(nvml_error("list = \"thread\""), "p.toml:14:1: unknown key 'nvml.list'; did you mean 'lists'?");
}

TEST(Profile, NamesTheNearestKeyAndThePosition) {
  EXPECT_EQ(error_of(kHead + kDevice + "[cost.cuinit]\nserial_m = 2\n"),
            "p.toml:14:1: unknown key 'cost.cuinit.serial_m'; did you mean 'serial_ms'?");
  EXPECT_EQ(error_of(kHead + kDevice + "[cost.context_crate]\nserial_ms = 2\n"),
            "p.toml:13:7: unknown key 'cost.context_crate'; did you mean 'context_create'?");
  EXPECT_EQ(error_of(kHead + "jiter = 1\n" + kDevice),
            "p.toml:3:1: unknown key 'jiter'; did you mean 'jitter'?");
  EXPECT_NE(error_of(kHead + kDevice + "colour = 1\n").find("unknown key 'device.colour'"),
            std::string::npos);
}

TEST(Profile, NamesWhatIsMissing) {
  EXPECT_EQ(error_of(kHead), "p.toml:1:1: the key 'device' is missing");
  EXPECT_NE(error_of(kHead + "[device]\ngpus = 1\n").find("p.toml:3:1: the key 'device.name' is missing"),
            std::string::npos);
  EXPECT_NE(error_of("description = \"x\"\n" + kDevice).find("the key 'name' is missing"), std::string::npos);
}

TEST(Profile, RefusesWrongTypesAndRanges) {
  const auto with = [](const std::string& key, const std::string& value) {
    std::string device = kDevice;
    const size_t at = device.find(key + " = ");
    device.replace(at, device.find('\n', at) - at, key + " = " + value);
    return error_of(kHead + device);
  };
  EXPECT_EQ(with("gpus", "-1"), "p.toml:4:8: 'device.gpus' must be a whole number from 0 to 16");
  EXPECT_NE(with("gpus", "17").find("from 0 to 16"), std::string::npos);
  EXPECT_EQ(with("gpus", "0"), "(no error)");
  EXPECT_NE(with("gpus", "1.0").find("whole number"), std::string::npos);
  EXPECT_NE(with("gpus", "\"2\"").find("whole number"), std::string::npos);
  EXPECT_NE(with("name", "7").find("must be a text"), std::string::npos);
  EXPECT_NE(with("name", "\"\"").find("1 to 63 bytes, found 0"), std::string::npos);
  EXPECT_NE(with("name", "\"" + std::string(64, 'x') + "\"").find("found 64"), std::string::npos);
  EXPECT_NE(with("granularity_kib", "0").find("whole number from 1"), std::string::npos);
  EXPECT_NE(with("context_mib", "1001").find("one context (1001 MiB) is larger than the device"),
            std::string::npos);
}

TEST(Profile, RefusesWrongCosts) {
  for (const char* value : {"-1", "nan", "inf", "1e12", "\"1\"", "true"}) {
    const std::string error = error_of(kHead + kDevice + "[cost.cuinit]\nserial_ms = " + value + "\n");
    EXPECT_NE(error.find("'cost.cuinit.serial_ms' must be a number from 0 to"), std::string::npos) << error;
  }
  EXPECT_NE(error_of(kHead + kDevice + "[cost.cuinit]\ncrowded_ms = 2\n")
                .find("'crowd_waiting' and 'crowded_ms' of [cost.cuinit] go together"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + kDevice + "[cost.cuinit]\ncrowd_waiting = 0\ncrowded_ms = 2\n")
                .find("'cost.cuinit.crowd_waiting' must be a whole number from 1"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + "jitter = 1.5\n" + kDevice).find("'jitter' must be a number from 0 to 1"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + "cost = 3\n" + kDevice).find("'cost' must be a table, written [cost]"),
            std::string::npos);
}

TEST(Profile, RefusesWrongFaults) {
  EXPECT_NE(error_of(kHead + kDevice + "[[fault]]\nnth_cuinit = 1\naction = \"crush\"\n")
                .find("unknown action 'crush'; did you mean 'crash'?"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + kDevice + "[[fault]]\nnth_cuinit = 0\naction = \"exit\"\n")
                .find("whole number from 1"),
            std::string::npos);
  EXPECT_NE(
      error_of(kHead + kDevice + "[[fault]]\naction = \"exit\"\n").find("'fault.nth_cuinit' is missing"),
      std::string::npos);
  EXPECT_NE(error_of(kHead + kDevice + "[fault]\nnth_cuinit = 1\n")
                .find("must be a list of tables, written [[fault]]"),
            std::string::npos);
  EXPECT_NE(
      error_of(kHead + kDevice +
               "[[fault]]\nnth_cuinit = 1\naction = \"exit\"\n[[fault]]\nnth_cuinit = 1\naction = \"fail\"\n")
          .find("a second fault for cuInit number 1"),
      std::string::npos);
}

TEST(Profile, PassesOnWhereTheTomlIsBroken) {
  EXPECT_NE(error_of("name = \"x\ny = 2\n").find("p.toml:1:"), std::string::npos);
  EXPECT_NE(error_of("name = \"x\ny = 2\n").find("not valid TOML"), std::string::npos);
}

TEST(ProfileFiles, TheShippedOnesAreValidAndFitted) {
  const auto study = load_profile(TEST_PROFILE_DIR "/study.toml");
  ASSERT_TRUE(study) << study.error().line();
  EXPECT_EQ(study->name, "study");
  // The contexts of as many workers as a run may have.
  EXPECT_GE(study->memory_mib, 4096 * study->context_mib);
  // The study's four means, by the arithmetic of docs/simulated-node.md.
  const double native_s = (study->cuinit.parallel_ms + 250 * study->cuinit.serial_ms) / 1000;
  EXPECT_NEAR(native_s, 16.48, 1.648);
  EXPECT_NEAR(native_s, 17.91, 1.791);
  const double serial_ms = study->context_create.serial_ms + study->context_destroy.serial_ms;
  const double parallel_ms = study->context_create.parallel_ms + study->context_destroy.parallel_ms;
  EXPECT_NEAR(native_s + 250 * serial_ms / 1000, 89.91, 1);
  EXPECT_NEAR(native_s + 250 * (serial_ms + parallel_ms) / 1000, 98.80, 1);

  const auto instant = load_profile(TEST_PROFILE_DIR "/instant.toml");
  ASSERT_TRUE(instant) << instant.error().line();
  EXPECT_EQ(instant->cuinit.serial_ms + instant->cuinit.parallel_ms, 0);
}

TEST(ProfileFiles, AreFoundByNameOrPath) {
  const std::filesystem::path folder = TEST_PROFILE_DIR;
  EXPECT_EQ(find_profile("study", folder), folder / "study.toml");
  EXPECT_EQ(find_profile((folder / "instant.toml").string(), "/nowhere"), folder / "instant.toml");
  const auto mistyped = find_profile("studdy", folder);
  ASSERT_FALSE(mistyped);
  EXPECT_EQ(mistyped.error().kind, base::ErrorKind::kUsage);
  EXPECT_NE(mistyped.error().line().find("did you mean 'study'?"), std::string::npos)
      << mistyped.error().line();
  EXPECT_NE(mistyped.error().line().find("instant"), std::string::npos);
  EXPECT_FALSE(find_profile("", folder));
  const auto no_file = find_profile("./nothing.toml", folder);
  ASSERT_FALSE(no_file);
  EXPECT_EQ(no_file.error().line(), "./nothing.toml: no such profile file: " +
                                        (std::filesystem::current_path() / "nothing.toml").string());
  EXPECT_EQ(find_profile("study", "/nowhere").error().kind, base::ErrorKind::kFailure);
}

}  // namespace
}  // namespace rollcall::simgpu
