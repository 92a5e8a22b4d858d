// The pure parts of the stand-in libraries: UUIDs, CUDA_VISIBLE_DEVICES, the
// versions of entry points, and when state is inherited over a fork.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/abi.h"
#include "simgpu/fork_guard.h"
#include "simgpu/proc_table.h"
#include "simgpu/protocol.h"
#include "simgpu/uuid.h"
#include "simgpu/visible_devices.h"

namespace rollcall::simgpu {
namespace {

std::string uuid_text(unsigned gpu) {
  char text[kUuidTextSize];
  format_uuid(gpu_uuid(gpu), text);
  return text;
}

TEST(Uuid, HasTheFormOfTheRealOne) {
  const std::string text = uuid_text(0);
  ASSERT_EQ(text.size(), 40U);
  const std::string shape = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 'x') {
      EXPECT_TRUE(std::isxdigit(static_cast<unsigned char>(text[i]))) << text;
    } else {
      EXPECT_EQ(text[i], shape[i]);
    }
  }
}

TEST(Uuid, IsTheSameEveryTimeAndAnotherForEachGpu) {
  std::set<std::string> all;
  for (unsigned gpu = 0; gpu < kMaxGpus; ++gpu) {
    EXPECT_EQ(uuid_text(gpu), uuid_text(gpu));
    all.insert(uuid_text(gpu).substr(0, 12));  // the first eight digits already differ
  }
  EXPECT_EQ(all.size(), kMaxGpus);
}

std::vector<unsigned> visible(const char* text, unsigned gpus) {
  const VisibleDevices devices = parse_visible_devices(text, gpus);
  return {devices.gpu, devices.gpu + devices.count};
}
using Gpus = std::vector<unsigned>;

TEST(VisibleDevices, EveryGpuWhereTheVariableIsNotSet) {
  EXPECT_EQ(visible(nullptr, 3), (Gpus{0, 1, 2}));
  EXPECT_EQ(visible(nullptr, 99).size(), kMaxGpus);
}

TEST(VisibleDevices, NoneWhereItIsEmpty) {
  EXPECT_EQ(visible("", 3), Gpus());
  EXPECT_EQ(visible(" ", 3), Gpus());
}

TEST(VisibleDevices, IndicesInTheirOrder) {
  EXPECT_EQ(visible("2,0", 3), (Gpus{2, 0}));
  EXPECT_EQ(visible(" 1 ,\t2", 3), (Gpus{1, 2}));
}

TEST(VisibleDevices, StopsAtTheFirstInvalidEntry) {
  EXPECT_EQ(visible("1,-1,0", 3), (Gpus{1}));
  EXPECT_EQ(visible("0,3,1", 3), (Gpus{0}));
  EXPECT_EQ(visible("0,x,1", 3), (Gpus{0}));
  EXPECT_EQ(visible("0,,1", 3), (Gpus{0}));
  EXPECT_EQ(visible("0,1x", 3), (Gpus{0}));
  EXPECT_EQ(visible("-1", 3), Gpus());
  EXPECT_EQ(visible("4294967296", 3), Gpus());
  EXPECT_EQ(visible("0,1,0,2", 3), (Gpus{0, 1}));  // named twice
}

TEST(VisibleDevices, UuidsWholeOrAsUniquePrefixes) {
  const std::string second = uuid_text(1);
  EXPECT_EQ(visible(second.c_str(), 3), (Gpus{1}));
  EXPECT_EQ(visible((second + "," + uuid_text(0)).c_str(), 3), (Gpus{1, 0}));
  EXPECT_EQ(visible(second.substr(0, 12).c_str(), 3), (Gpus{1}));
  EXPECT_EQ(visible(("2," + second.substr(0, 12)).c_str(), 3), (Gpus{2, 1}));
  EXPECT_EQ(visible((second + "0").c_str(), 3), Gpus());
  EXPECT_EQ(visible(uuid_text(3).c_str(), 3), Gpus());  // of a GPU that is not there
  EXPECT_EQ(visible("GPU-", 1), Gpus());                // names nothing, even if it is unique
  EXPECT_EQ(visible("MIG-0", 3), Gpus());
}

TEST(VisibleDevices, AnAmbiguousPrefixNamesNothing) {
  // With sixteen GPUs two share their first digit, since a digit has sixteen
  // values and these do not take each once.
  std::set<char> seen;
  char shared = 0;
  for (unsigned gpu = 0; gpu < kMaxGpus; ++gpu) {
    if (!seen.insert(uuid_text(gpu)[4]).second) shared = uuid_text(gpu)[4];
  }
  ASSERT_NE(shared, 0);
  EXPECT_EQ(visible((std::string("GPU-") + shared).c_str(), kMaxGpus), Gpus());
}

int first_form = 0;
int second_form = 0;
int other_function = 0;
const ProcEntry kTable[] = {
    {"cuMemAlloc", 2000, &first_form}, {"cuMemAlloc", 3020, &second_form}, {"cuNew", 12000, &other_function}};

ProcLookup look_up(const char* name, int version) {
  return find_proc(kTable, 3, name, version);
}

TEST(ProcTable, GivesTheNewestFormThatIsNotNewerThanAskedFor) {
  EXPECT_EQ(look_up("cuMemAlloc", 2000).function, &first_form);
  EXPECT_EQ(look_up("cuMemAlloc", 3010).function, &first_form);
  EXPECT_EQ(look_up("cuMemAlloc", 3020).function, &second_form);
  EXPECT_EQ(look_up("cuMemAlloc", 13000).function, &second_form);
  EXPECT_EQ(look_up("cuMemAlloc", 13000).query_result, gpu::kCudaProcAddressFound);
}

TEST(ProcTable, TellsTooOldAVersionFromAnUnknownName) {
  EXPECT_EQ(look_up("cuNew", 11080).function, nullptr);
  EXPECT_EQ(look_up("cuNew", 11080).query_result, gpu::kCudaProcAddressVersionNotSufficient);
  EXPECT_EQ(look_up("cuMemAlloc_v2", 13000).query_result, gpu::kCudaProcAddressSymbolNotFound);
  EXPECT_EQ(look_up("", 13000).query_result, gpu::kCudaProcAddressSymbolNotFound);
}

TEST(Protocol, ARequestIsWellFormedOnlyAsAWhole) {
  Request good;
  good.operation = static_cast<uint16_t>(Operation::kCuInit);
  EXPECT_TRUE(well_formed(good, sizeof good));
  EXPECT_FALSE(well_formed(good, sizeof good - 1));
  EXPECT_FALSE(well_formed(good, sizeof good + 1));
  const auto altered = [&](auto change) {
    Request request = good;
    change(request);
    return well_formed(request, sizeof request);
  };
  EXPECT_FALSE(altered([](Request& r) { r.magic ^= 1; }));
  EXPECT_FALSE(altered([](Request& r) { ++r.version; }));
  EXPECT_FALSE(altered([](Request& r) { r.operation = 0; }));
  EXPECT_FALSE(altered([](Request& r) { r.operation = static_cast<uint16_t>(Operation::kLast) + 1; }));
  EXPECT_FALSE(altered([](Request& r) { r.reserved = 1; }));
}

TEST(Protocol, AReplyIsAsLongAsItSays) {
  Reply reply;
  EXPECT_TRUE(well_formed(reply, sizeof reply));
  EXPECT_FALSE(well_formed(reply, sizeof reply - 1));
  EXPECT_FALSE(well_formed(reply, sizeof reply + 1));
  reply.payload_bytes = sizeof(ListEntry);
  EXPECT_TRUE(well_formed(reply, sizeof reply + sizeof(ListEntry)));
  reply.payload_bytes = kMaxPayloadBytes + 16;
  EXPECT_FALSE(well_formed(reply, sizeof reply + reply.payload_bytes));
}

TEST(ForkGuard, KnowsAChildThatInheritedFromOneThatClaimed) {
  ForkGuard guard;
  int resets = 0;
  const auto reset = [&resets] { ++resets; };
  EXPECT_FALSE(guard.inherited());
  ASSERT_TRUE(guard.claim(reset));
  ASSERT_TRUE(guard.claim(reset));
  EXPECT_EQ(resets, 1);
  EXPECT_FALSE(guard.inherited());
  const pid_t child = fork();
  if (child == 0) {
    const bool inherited = guard.inherited();
    const bool claimed = guard.claim(reset);
    _exit(inherited && claimed && resets == 2 && !guard.inherited() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(guard.inherited());  // the parent is as it was
}

TEST(ForkGuard, ResetsOnceAmongManyThreadsAndBeforeAnyOfThemGoesOn) {
  ForkGuard guard;
  std::atomic<int> resets{0};
  std::atomic<int> early{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      guard.claim([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++resets;
      });
      if (resets != 1) ++early;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(resets, 1);
  EXPECT_EQ(early, 0);
}

}  // namespace
}  // namespace rollcall::simgpu
