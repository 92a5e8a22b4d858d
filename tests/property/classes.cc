// What must hold of the classes and tables for every run there could be, the
// impossible ones included.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>
#include <set>

#include "analysis/classify.h"
#include "analysis/knowledge.h"
#include "analysis/summary.h"
#include "analysis/tables.h"
#include "analysis/validity.h"
#include "generators.h"
#include "report/terminal.h"

namespace rollcall::property {
namespace {

using analysis::Class;

TEST(Classes, AlwaysSumToTheNumberOfWorkers) {
  EXPECT_TRUE(rc::check("one class for each worker of the topology", [] {
    const auto run = *any_run();
    const auto classified = analysis::classify(run);
    const int expected = run.record.discovers() ? run.record.topology.workers() : 0;
    RC_ASSERT(analysis::count_classes(classified).total() == expected);
    for (int i = 0; i < expected; ++i) RC_ASSERT(classified[static_cast<size_t>(i)].worker == i);
  }));
}

TEST(Classes, APeerIsAlwaysAnotherWorkerOfTheRun) {
  std::set<Class> reached;
  EXPECT_TRUE(rc::check("peer_worker is set exactly for peers", [&reached] {
    const auto run = *any_run();
    for (const auto& one : analysis::classify(run)) {
      reached.insert(one.cls);
      RC_ASSERT(one.peer_worker.has_value() == (one.cls == Class::kPeer));
      RC_ASSERT(one.peer_cache.has_value() == (one.cls == Class::kPeer));
      if (!one.peer_worker) continue;
      RC_ASSERT(*one.peer_worker != one.worker);
      RC_ASSERT(*one.peer_worker >= 0 && *one.peer_worker < run.record.topology.workers());
    }
  }));
  EXPECT_EQ(reached.size(), analysis::kClasses.size()) << "the generator must bring about every class";
}

TEST(Classes, NobodyIsSelfWithAnotherNumberThanItsOwn) {
  EXPECT_TRUE(rc::check("self implies that what its kind claims is its PID, or the PID inside", [] {
    const auto run = *any_run();
    for (const auto& one : analysis::classify(run)) {
      if (one.cls != Class::kSelf) continue;
      const auto worker = std::find_if(run.workers.begin(), run.workers.end(),
                                       [&](const WorkerRecord& w) { return w.worker == one.worker; });
      RC_ASSERT(worker != run.workers.end());
      const analysis::Claims claims = analysis::claims_of(worker->discovery);
      const auto own_or_missing = [&](const std::optional<int64_t>& claimed) {
        const bool inside = !worker->nspid.empty() && claimed == worker->nspid.back();
        return !claimed || claimed == worker->pid || inside;
      };
      const IdentityKind kind = run.record.identity_kind;
      RC_ASSERT(claims.host_pid || kind != IdentityKind::kHost);
      RC_ASSERT(claims.nvml_pid || kind != IdentityKind::kNvml);
      RC_ASSERT(claims.host_pid || claims.nvml_pid);
      if (kind != IdentityKind::kNvml) RC_ASSERT(own_or_missing(claims.host_pid));
      if (kind != IdentityKind::kHost) RC_ASSERT(own_or_missing(claims.nvml_pid));
    }
  }));
}

TEST(Knowledge, EachNumberOfEachWorkerIsCountedOnceAndNoWrongOneIsCalledSelf) {
  EXPECT_TRUE(rc::check("right + wrong + unresolved + missing is the number of workers", [] {
    auto run = *any_run();
    run.record.has_shim = true;
    run.record.identity_kind = IdentityKind::kBoth;
    const auto counts = analysis::count_classes(analysis::classify(run));
    const analysis::Knowledge knowledge = analysis::knowledge_of({&run});
    for (const auto* number : {&knowledge.host, &knowledge.nvml}) {
      RC_ASSERT(number->right + number->wrong + number->unresolved + number->missing ==
                run.record.topology.workers());
      RC_ASSERT(number->wrong <= counts.of(Class::kPeer) + counts.of(Class::kExternal));
    }
    RC_ASSERT(counts.of(Class::kSelf) <= knowledge.host.right + knowledge.nvml.right);
    RC_ASSERT(counts.of(Class::kDiscoveryFailed) <= std::min(knowledge.host.missing, knowledge.nvml.missing));
  }));
}

TEST(Tables, DoNotDependOnTheOrderOfRecordsOrRuns) {
  EXPECT_TRUE(rc::check("any permutation gives the same bytes", [] {
    auto runs = *rc::gen::container<std::vector<evidence::Run>>(*rc::gen::inRange<size_t>(1, 4), any_run());
    for (size_t i = 0; i < runs.size(); ++i) runs[i].record.number = static_cast<int>(i) + 1;
    auto shuffled = runs;
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (evidence::Run& run : shuffled) std::shuffle(run.workers.begin(), run.workers.end(), random);
    RC_ASSERT(analysis::summary_csv(shuffled) == analysis::summary_csv(runs));
    RC_ASSERT(analysis::pid_mapping_csv(shuffled) == analysis::pid_mapping_csv(runs));
    RC_ASSERT(analysis::external_wall_times_csv(shuffled) == analysis::external_wall_times_csv(runs));
    RC_ASSERT(analysis::statistics_csv(shuffled) == analysis::statistics_csv(runs));
    RC_ASSERT(report::json_report(analysis::summarise(shuffled)) ==
              report::json_report(analysis::summarise(runs)));
    RC_ASSERT(report::terminal_report(analysis::summarise(shuffled)) ==
              report::terminal_report(analysis::summarise(runs)));
  }));
}

TEST(Tables, AreTheSameFromRecordsThatWereWrittenAndReadBack) {
  EXPECT_TRUE(rc::check("deriving again gives the same bytes", [] {
    const auto run = *any_run();
    evidence::Run back;
    back.record = parse_run(print_run(run.record), "run.json").value();
    for (const WorkerRecord& worker : run.workers) {
      back.workers.push_back(parse_worker(print_worker(worker), "workers.jsonl").value());
    }
    RC_ASSERT(analysis::summary_csv({back}) == analysis::summary_csv({run}));
    RC_ASSERT(analysis::pid_mapping_csv({back}) == analysis::pid_mapping_csv({run}));
    RC_ASSERT(analysis::statistics_csv({back}) == analysis::statistics_csv({run}));
  }));
}

TEST(Validity, ReasonsAreSortedAndUnique) {
  EXPECT_TRUE(rc::check("each code once, in order", [] {
    const auto reasons = analysis::invalid_reasons(*any_run());
    RC_ASSERT(std::is_sorted(reasons.begin(), reasons.end()));
    RC_ASSERT(std::adjacent_find(reasons.begin(), reasons.end()) == reasons.end());
  }));
}

}  // namespace
}  // namespace rollcall::property
