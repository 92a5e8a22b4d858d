// See schedule.h. The shuffle is written out because std::shuffle may differ
// between C++ libraries, and the same seed must give the same order everywhere.
#include "study/schedule.h"

#include <random>
#include <utility>

#include "evidence/records.h"

namespace rollcall::study {
namespace {

using Condition = std::pair<evidence::Topology, std::string>;

void shuffle(std::vector<Condition>& conditions, std::mt19937_64& random) {
  for (size_t i = conditions.size(); i > 1; --i) {
    // The bias of a modulus over at most a few hundred conditions is far below
    // one part in 10^16.
    std::swap(conditions[i - 1], conditions[random() % i]);
  }
}

}  // namespace

std::string PlannedRun::id() const {
  return evidence::run_id(number, topology, arm, repetition);
}

std::vector<PlannedRun> make_schedule(const Plan& plan) {
  std::vector<Condition> conditions;
  for (const evidence::Topology& topology : plan.topologies) {
    for (const std::string& arm : plan.arms) conditions.emplace_back(topology, arm);
  }
  std::vector<PlannedRun> runs;
  const auto add = [&runs](const Condition& condition, int repetition) {
    runs.push_back({static_cast<int>(runs.size()) + 1, condition.first, condition.second, repetition});
  };
  if (plan.order == Order::kBlocked) {
    for (const Condition& condition : conditions) {
      for (int repetition = 1; repetition <= plan.runs; ++repetition) add(condition, repetition);
    }
    return runs;
  }
  std::mt19937_64 random(plan.seed);
  for (int repetition = 1; repetition <= plan.runs; ++repetition) {
    std::vector<Condition> round = conditions;
    shuffle(round, random);
    for (const Condition& condition : round) add(condition, repetition);
  }
  return runs;
}

}  // namespace rollcall::study
