// The measured runs of the real HAMi-core (tests/data/hami-core-h200): the reader,
// the source and the classes together must give its table.
#include <gtest/gtest.h>

#include "analysis/classify.h"
#include "base/files.h"
#include "evidence/compress.h"
#include "evidence/csv.h"
#include "evidence_temporary_folder.h"
#include "hami/log.h"
#include "hami/region.h"
#include "study/identity_source.h"

namespace rollcall::study {
namespace {

using analysis::Class;
using evidence::DiscoveryState;

constexpr size_t kMaxBytes = size_t{4} << 20;
constexpr int kWorkers = 20;

std::string data(const std::string& name) {
  const auto content =
      base::read_file(std::filesystem::path(TEST_DATA_DIR) / "hami-core-h200" / name, kMaxBytes);
  EXPECT_TRUE(content) << name;
  return content.value_or("");
}

// One measured run, its regions and logs laid out as the source meets them.
class MeasuredRun {
 public:
  MeasuredRun(const std::string& name, int caches) {
    run_.record.has_shim = true;
    run_.record.identity_kind = evidence::IdentityKind::kNvml;
    run_.record.topology =
        *evidence::Topology::parse(std::to_string(caches) + "x" + std::to_string(kWorkers / caches));
    for (int k = 0; k < caches; ++k) {
      const std::string cache = "cache_" + std::to_string(k);
      const auto region = evidence::decompress(data(name + "/" + cache + ".region.zst"), kMaxBytes, cache);
      EXPECT_TRUE(region) << name << " " << cache;
      regions_.push_back(region.value_or(""));
      logs_.push_back(data(name + "/" + cache + ".log"));
      folder_.write(cache, regions_.back());
      folder_.write(cache + ".log", logs_.back());
      files_.caches.push_back(folder_.path() / cache);
      files_.logs.push_back(folder_.path() / (cache + ".log"));
    }
    auto rows = evidence::parse_csv(data(name + "/workers.csv"), name);
    EXPECT_TRUE(rows);
    EXPECT_EQ(rows->front(),
              (evidence::CsvRow{"slot", "cache", "pid", "cuinit_rc", "enter_ms", "return_ms"}));
    for (size_t i = 1; i < rows->size(); ++i) add_worker((*rows)[i]);
    EXPECT_EQ(run_.workers.size(), kWorkers);
  }

  // Discovered through the source, as the launcher does.
  evidence::Run discovered() {
    Arm arm;
    arm.identity = IdentitySourceKind::kHamiCore;
    const auto source = make_identity_source(arm, files_);
    for (auto& worker : run_.workers) worker.discovery = (*source)->read(worker);
    return run_;
  }
  [[nodiscard]] const evidence::Run& run() const { return run_; }
  [[nodiscard]] const IdentityFiles& files() const { return files_; }

  // What each of the two says by itself, without the source.
  [[nodiscard]] int64_t from_region(const evidence::WorkerRecord& worker) const {
    const std::string& bytes = regions_.at(static_cast<size_t>(worker.cache));
    const auto slots = hami::read_slots([&bytes](void* buffer, size_t size, uint64_t offset) {
      return bytes.copy(static_cast<char*>(buffer), size, offset) == size;
    });
    EXPECT_TRUE(slots);
    for (const hami::Slot& slot : *slots) {
      if (slot.pid == worker.pid) return slot.host_pid;
    }
    return -1;
  }
  [[nodiscard]] int64_t from_log(const evidence::WorkerRecord& worker) const {
    int64_t last = -1;
    std::string_view log = logs_.at(static_cast<size_t>(worker.cache));
    while (!log.empty()) {
      const size_t end = std::min(log.find('\n'), log.size());
      const auto line = hami::parse_log_line(log.substr(0, end));
      if (line && line->pid == worker.pid && line->assigned_pid) last = *line->assigned_pid;
      log.remove_prefix(std::min(end + 1, log.size()));
    }
    return last;
  }

 private:
  void add_worker(const evidence::CsvRow& row) {
    evidence::WorkerRecord worker;
    worker.worker = std::stoi(row.at(0));
    worker.cache = std::stoi(row.at(1));
    worker.pid = std::stoll(row.at(2));
    worker.nspid = {*worker.pid};
    worker.pid_namespace = 1;
    worker.start_time = 1;
    worker.fate = evidence::Fate::kFinished;
    worker.stage = evidence::Stage::kFinished;
    worker.cuinit_result = std::stoi(row.at(3));
    run_.workers.push_back(worker);
  }

  test::TemporaryFolder folder_;
  std::vector<std::string> regions_, logs_;
  IdentityFiles files_;
  evidence::Run run_;
};

struct Expected {
  const char* name;
  int caches;
  int self;
  int peer;
};
constexpr Expected kExpected[] = {
    {"hami-1x20-run1", 1, 20, 0},  {"hami-1x20-run2", 1, 20, 0},  {"hami-1x20-run3", 1, 20, 0},
    {"hami-10x2-run1", 10, 2, 18}, {"hami-10x2-run2", 10, 3, 17}, {"hami-10x2-run3", 10, 3, 17},
};

TEST(HamiMeasuredTest, RegionAndLogAgreeOnEveryWorker) {
  int workers = 0;
  for (const Expected& expected : kExpected) {
    const MeasuredRun measured(expected.name, expected.caches);
    for (const auto& worker : measured.run().workers) {
      EXPECT_GT(measured.from_region(worker), 0) << expected.name << " " << worker.worker;
      EXPECT_EQ(measured.from_region(worker), measured.from_log(worker))
          << expected.name << " " << worker.worker;
      ++workers;
    }
  }
  EXPECT_EQ(workers, 120);
}

TEST(HamiMeasuredTest, TheSourceReportsWhatBothSay) {
  for (const Expected& expected : kExpected) {
    MeasuredRun measured(expected.name, expected.caches);
    for (const auto& worker : measured.discovered().workers) {
      EXPECT_EQ(worker.discovery.state, DiscoveryState::kAssigned) << worker.discovery.reason;
      EXPECT_EQ(worker.discovery.assigned_pid, measured.from_log(worker));
    }
  }
}

TEST(HamiMeasuredTest, TheClassesAreThoseOfTheTable) {
  for (const Expected& expected : kExpected) {
    const auto counts =
        analysis::count_classes(analysis::classify(MeasuredRun(expected.name, expected.caches).discovered()));
    EXPECT_EQ(counts.total(), kWorkers) << expected.name;
    EXPECT_EQ(counts.of(Class::kSelf), expected.self) << expected.name;
    EXPECT_EQ(counts.of(Class::kPeer), expected.peer) << expected.name;
    EXPECT_EQ(counts.of(Class::kExternal), 0) << expected.name;
    EXPECT_EQ(counts.of(Class::kDiscoveryFailed), 0) << expected.name;
    EXPECT_EQ(counts.of(Class::kUnresolved), 0) << expected.name;
  }
}

TEST(HamiMeasuredTest, TheLogAloneReadByExpressionsGivesTheSameClasses) {
  Arm arm;
  arm.identity = IdentitySourceKind::kLog;
  arm.log = {R"(^\[HAMI-core Info\((?P<own>\d+):.*\]: hostPid=(?P<assigned>\d+)$)",
             R"(^\[HAMI-core ERROR \(pid:(?P<own>\d+) .*\]: host pid is error!)"};
  for (const Expected& expected : kExpected) {
    const MeasuredRun measured(expected.name, expected.caches);
    evidence::Run run = measured.run();
    const auto source = make_identity_source(arm, measured.files());
    ASSERT_TRUE(source);
    for (auto& worker : run.workers) worker.discovery = (*source)->read(worker);
    const auto counts = analysis::count_classes(analysis::classify(run));
    EXPECT_EQ(counts.of(Class::kSelf), expected.self) << expected.name;
    EXPECT_EQ(counts.of(Class::kPeer), expected.peer) << expected.name;
  }
}

TEST(HamiMeasuredTest, ARegionIsKnownByItsMagic) {
  const MeasuredRun measured("hami-10x2-run1", 10);
  EXPECT_EQ(detect_identity_source(measured.files().caches.front()).kind, IdentitySourceKind::kHamiCore);
}

}  // namespace
}  // namespace rollcall::study
