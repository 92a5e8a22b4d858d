// Arbitrary plans, and texts that are almost what a parser expects.
#pragma once

#include <rapidcheck.h>

#include <set>
#include <string>
#include <vector>

#include "generators.h"
#include "study/plan.h"

namespace rollcall::property {

inline rc::Gen<double> any_positive() {
  return rc::gen::suchThat(
      rc::gen::map(rc::gen::arbitrary<double>(), [](double x) { return x < 0 ? -x : x; }),
      [](double x) { return x > 0 && x < 1e300; });
}

// An arm that a user defined.
inline rc::Gen<study::Arm> any_shim() {
  return rc::gen::exec([] {
    using study::IdentitySourceKind;
    study::Arm arm;
    arm.name = *any_text();
    arm.preload = *any_text();
    arm.preload_sha256 = *any_text();
    const auto variables = *rc::gen::inRange(0, 3);
    for (int i = 0; i < variables; ++i) arm.environment.emplace_back(*any_text(), *any_text());
    arm.cache_variable = *any_text();
    arm.identity =
        *rc::gen::element(IdentitySourceKind::kNone, IdentitySourceKind::kAuto, IdentitySourceKind::kRollcall,
                          IdentitySourceKind::kHamiCore, IdentitySourceKind::kLog);
    arm.identity_kind =
        *rc::gen::element(IdentityKind::kNone, IdentityKind::kNvml, IdentityKind::kHost, IdentityKind::kBoth);
    if (arm.identity == IdentitySourceKind::kLog) arm.log = {*any_text(), *any_text()};
    return arm;
  });
}

// A few different topologies and arms, as a plan may have them.
inline rc::Gen<study::Plan> any_plan() {
  return rc::gen::exec([] {
    study::Plan plan;
    const auto topologies = *rc::gen::nonEmpty(
        rc::gen::scale(0.1, rc::gen::container<std::set<Topology>>(any_topology(kMaxWorkers))));
    plan.topologies.assign(topologies.begin(), topologies.end());
    const auto arms =
        *rc::gen::nonEmpty(rc::gen::scale(0.1, rc::gen::container<std::set<std::string>>(any_text())));
    plan.arms.assign(arms.begin(), arms.end());
    const auto shims = *rc::gen::inRange(0, 3);
    for (int i = 0; i < shims; ++i) plan.shims.push_back(*any_shim());
    plan.neighbours = *rc::gen::inRange(0, 65);
    plan.devices = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<size_t>(0, 3), any_text());
    plan.runs = *rc::gen::inRange(1, 8);
    plan.node = *rc::gen::element(NodeKind::kSimulated, NodeKind::kReal);
    plan.profile_name = *any_text();
    plan.profile_toml = *any_text();
    plan.time_scale = *any_positive();
    plan.workload = *rc::gen::element(Workload::kInit, Workload::kContext);
    plan.hold = *rc::gen::element(Hold::kNone, Hold::kAll);
    plan.view = *rc::gen::element(NvmlView::kGlobal, NvmlView::kTranslated);
    plan.order = *rc::gen::element(study::Order::kInterleaved, study::Order::kBlocked);
    plan.seed = *rc::gen::arbitrary<uint64_t>();
    plan.gpus = *rc::gen::inRange(0, 65);
    plan.worker_timeout_s = *any_positive();
    plan.run_timeout_s = *any_positive();
    plan.lock_timeout_s = *any_positive();
    return plan;
  });
}

// A text with a few of its bytes changed, dropped or doubled.
inline rc::Gen<std::string> nearly(const std::string& text) {
  return rc::gen::exec([text] {
    std::string result = text;
    const int changes = *rc::gen::inRange(0, 4);
    for (int i = 0; i < changes && !result.empty(); ++i) {
      const auto at = *rc::gen::inRange<size_t>(0, result.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          result[at] = *rc::gen::arbitrary<char>();
          break;
        case 1:
          result.erase(at, *rc::gen::inRange<size_t>(1, 20));
          break;
        default:
          result.insert(at, result.substr(at, *rc::gen::inRange<size_t>(1, 20)));
      }
    }
    return result;
  });
}

}  // namespace rollcall::property
