// What the kernel says about a worker: from the text of its maps, and from a real
// process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/fd.h"
#include "base/process.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "study/collect.h"

namespace rollcall::study {
namespace {

using test::ForkedChild;

constexpr const char* kShim = "/opt/my rollcall/librollcall_shim.so";

std::string mapping(const std::string& path) {
  return "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234                       " + path + "\n";
}
const std::string kAnonymous = "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \n";

TEST(FindLibraries, FindsTheShimAndTheDriver) {
  const auto found = find_libraries(kAnonymous + mapping("/lib/libc.so.6") + mapping(kShim) + kAnonymous +
                                        mapping("/usr/lib/libcuda.so.1") + mapping("[stack]"),
                                    {kShim});
  EXPECT_TRUE(found.shim);
  EXPECT_EQ(found.driver, "/usr/lib/libcuda.so.1");
}

TEST(FindLibraries, NothingIsFoundWhereNothingIsMapped) {
  for (const std::string& text :
       {std::string(), kAnonymous, mapping("/lib/libc.so.6"), std::string("garbage\n\n \n")}) {
    const auto found = find_libraries(text, {kShim});
    EXPECT_FALSE(found.shim);
    EXPECT_EQ(found.driver, "");
  }
}

TEST(FindLibraries, AnotherShimOfTheSameNameIsNotOurs) {
  EXPECT_FALSE(find_libraries(mapping("/elsewhere/librollcall_shim.so"), {kShim}).shim);
  EXPECT_FALSE(find_libraries(mapping(std::string(kShim) + ".old"), {kShim}).shim);
  EXPECT_FALSE(find_libraries(mapping(std::string(kShim) + " (deleted)"), {kShim}).shim);
}

TEST(FindLibraries, AnArmWithoutAShimExpectsNone) {
  EXPECT_FALSE(find_libraries(kAnonymous + mapping(kShim), {}).shim);
}

TEST(FindLibraries, TheDriverHasOneNameInAnyVersion) {
  for (const char* name : {"/a/libcuda.so", "/a/libcuda.so.1", "/a/libcuda.so.580.159.04"}) {
    EXPECT_EQ(find_libraries(mapping(name), {}).driver, name);
  }
  for (const char* name :
       {"/a/libcudart.so.1", "/a/xlibcuda.so.1", "/libcuda.so.1/other", "/a/libcuda.so_"}) {
    EXPECT_EQ(find_libraries(mapping(name), {}).driver, "") << name;
  }
}

TEST(FindLibraries, TheFirstDriverIsTheOneThatIsReported) {
  EXPECT_EQ(find_libraries(mapping("/sim/libcuda.so.1") + mapping("/usr/lib/libcuda.so.1"), {}).driver,
            "/sim/libcuda.so.1");
}

TEST(FindLibraries, TheLastLineNeedsNoEnd) {
  std::string text = mapping("/a/libcuda.so.1");
  text.pop_back();
  EXPECT_EQ(find_libraries(text, {}).driver, "/a/libcuda.so.1");
}

// A worker that has the libraries mapped, as the loader would.
class Collect : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("libcuda.so.1", std::string(4096, 'x'));
    folder_.write("shim.so", std::string(4096, 'x'));
  }
  static void map(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
  }
  ForkedChild worker(bool with_shim) {
    ForkedChild child([this, with_shim] {
      if (with_shim) map(shim());
      map(driver());
      ready_->store(1);
      return pause();
    });
    EXPECT_TRUE(test::eventually([this] { return ready_->load() == 1; }));
    return child;
  }
  [[nodiscard]] std::string shim() const { return folder_.path() / "shim.so"; }
  [[nodiscard]] std::string driver() const { return folder_.path() / "libcuda.so.1"; }

  test::TemporaryFolder folder_;
  test::Shared<std::atomic<int>> ready_;
};

TEST_F(Collect, ReadsALivingWorker) {
  const ForkedChild child = worker(true);
  evidence::WorkerRecord record;
  record.pid = child.pid();
  collect_worker({shim()}, record);
  EXPECT_EQ(record.start_time, base::process_start_time(child.pid()));
  EXPECT_EQ(record.pid_namespace, base::own_pid_namespace_inode());
  EXPECT_EQ(record.nspid, std::vector<int64_t>{child.pid()});
  EXPECT_NE(std::find(record.thread_ids.begin(), record.thread_ids.end(), child.pid()),
            record.thread_ids.end());
  EXPECT_EQ(record.shim_loaded, true);
  EXPECT_EQ(record.driver_library, driver());
}

TEST_F(Collect, AShimThatIsNotThereIsSaidToBeMissing) {
  const ForkedChild child = worker(false);
  evidence::WorkerRecord record;
  record.pid = child.pid();
  collect_worker({shim()}, record);
  EXPECT_EQ(record.shim_loaded, false);
  EXPECT_EQ(record.driver_library, driver());
}

TEST_F(Collect, AnArmWithoutAShimLeavesItUnset) {
  const ForkedChild child = worker(false);
  evidence::WorkerRecord record;
  record.pid = child.pid();
  collect_worker({}, record);
  EXPECT_FALSE(record.shim_loaded);
}

TEST_F(Collect, AZombieHasNoMapsAndNothingIsConcludedFromThat) {
  const ForkedChild child = worker(true);
  child.signal(SIGKILL);
  const base::Fd pidfd(base::open_pidfd(child.pid()));
  ASSERT_TRUE(test::ends(pidfd.get()));
  evidence::WorkerRecord record;
  record.pid = child.pid();
  collect_worker({shim()}, record);
  EXPECT_FALSE(record.shim_loaded);
  EXPECT_EQ(record.driver_library, "");
}

TEST_F(Collect, AGoneWorkerLeavesEverythingUnset) {
  ForkedChild child = worker(true);
  evidence::WorkerRecord record;
  record.pid = child.pid();
  child.kill_and_reap();
  const evidence::WorkerRecord before = record;
  collect_worker({shim()}, record);
  EXPECT_EQ(record, before);
}

TEST_F(Collect, WithoutAPidNothingIsRead) {
  evidence::WorkerRecord record;
  collect_worker({shim()}, record);
  EXPECT_EQ(record, evidence::WorkerRecord{});
}

TEST_F(Collect, EveryThreadIsListedInOrder) {
  std::atomic<int> ids[2] = {0, 0};
  std::atomic<bool> leave{false};
  const auto body = [&](std::atomic<int>& id) {
    id = static_cast<int>(syscall(SYS_gettid));
    while (!leave) std::this_thread::yield();
  };
  std::thread first([&] { body(ids[0]); });
  std::thread second([&] { body(ids[1]); });
  EXPECT_TRUE(test::eventually([&] { return ids[0] != 0 && ids[1] != 0; }));
  evidence::WorkerRecord record;
  record.pid = getpid();
  collect_worker({}, record);
  leave = true;
  first.join();
  second.join();
  EXPECT_TRUE(std::is_sorted(record.thread_ids.begin(), record.thread_ids.end()));
  for (const int id : {getpid(), ids[0].load(), ids[1].load()}) {
    EXPECT_EQ(std::count(record.thread_ids.begin(), record.thread_ids.end(), id), 1);
  }
}

}  // namespace
}  // namespace rollcall::study
