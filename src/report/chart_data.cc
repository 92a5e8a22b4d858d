// What the charts draw, compact: a run is a few arrays, one entry for each worker, not
// an object for each. Times are whole microseconds. The page's script reads this; the
// keys are short because they repeat for every run.
//
//   conditions  name, topology, arm, caches, per (workers of a cache), discovers
//   runs        id, c (index of its condition), rep, valid, why, counts, and per worker
//               cls (a digit each: index into classes; empty without classes), peer (worker
//               whose PID it holds, -1), pid, got (assigned), from, to (moments after the
//               gate), init (cuInit); null where it was not observed. Of an arm that claims two
//               numbers got is the host PID, and nvml is there too: the NVML PID
//   ecdf        c, n, v: cuInit of the n successful calls of the valid runs; at most
//               kMaxEcdfPoints of them, the i-th at rank ceil(i n / m)
//   wall        c, mean, low, high, few, text, values: [run index, seconds]
//   growth      name, arm, one (one cache), points: [workers, mean, low, high]
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/classify.h"
#include "analysis/roster.h"
#include "analysis/validity.h"
#include "report/growth.h"
#include "report/model.h"
#include "report/text_table.h"
#include "report/wording.h"

namespace rollcall::report {
namespace {

using analysis::Class;
using analysis::Condition;
using analysis::MeasureRow;
using Json = nlohmann::ordered_json;

// A curve on a screen is some hundred dots wide.
constexpr size_t kMaxEcdfPoints = 400;
// About 45 bytes each: 50,000 workers are some 2 MB. The rest is in the tables.
constexpr size_t kMaxWorkersInPage = 50'000;
constexpr int64_t kNsPerUs = 1000;

Json microseconds(const std::optional<int64_t>& ns) {
  return ns ? Json(*ns / kNsPerUs) : Json(nullptr);
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

class ChartData {
 public:
  ChartData(const ReportModel& model, const ReportSource& source)
      : model_(model), source_(source), mixed_(has_mixed_workloads(model.summary)) {}

  Json all() {
    Json json;
    json["classes"] = Json::array();
    for (const Class value : analysis::kClasses) json["classes"].push_back(to_text(value));
    json["conditions"] = Json::array();
    for (const Condition& c : model_.summary.conditions) json["conditions"].push_back(condition(c));
    json["runs"] = runs();
    json["workersLeftOut"] = left_out_;
    json["ecdf"] = ecdf();
    json["wall"] = walls();
    json["growth"] = growth();
    return json;
  }

 private:
  [[nodiscard]] Json condition(const Condition& c) const {
    Json json;
    const std::string arm = arm_text(c.arm, c.workload, c.hold, mixed_);
    json["name"] = c.topology.text() + " " + arm;
    json["topology"] = c.topology.text();
    json["arm"] = arm;
    json["kind"] = topology_kind(c.topology);
    json["caches"] = c.topology.caches();
    json["per"] = c.topology.workers_per_cache();
    json["discovers"] = c.discovers;
    return json;
  }

  [[nodiscard]] size_t condition_of(const evidence::RunRecord& run) const {
    const auto& all = model_.summary.conditions;
    return static_cast<size_t>(std::find_if(all.begin(), all.end(),
                                            [&](const Condition& c) {
                                              return c.topology == run.topology && c.arm == run.arm &&
                                                     c.has_shim == run.has_shim &&
                                                     c.workload == run.workload && c.hold == run.hold;
                                            }) -
                               all.begin());
  }

  Json runs() {
    Json list = Json::array();
    size_t workers = 0;
    for (const evidence::Run& run : source_.runs) {
      Json json;
      json["id"] = printable(run.record.id(), 2 * kMaxArmWidth);
      json["c"] = condition_of(run.record);
      json["rep"] = run.record.repetition;
      const auto reasons = analysis::invalid_reasons(run);
      json["valid"] = reasons.empty();
      if (!reasons.empty())
        json["why"] = printable(fmt::format("{}", fmt::join(reasons, ", ")), kMaxNameWidth);
      valid_.push_back(reasons.empty());
      workers += static_cast<size_t>(run.record.topology.workers());
      if (workers > kMaxWorkersInPage) {
        left_out_ += run.record.topology.workers();
      } else {
        add_workers(run, json);
      }
      list.push_back(std::move(json));
    }
    return list;
  }

  static void add_workers(const evidence::Run& run, Json& json) {
    const analysis::Roster roster(run);
    const auto classified = analysis::classify(run);
    json["counts"] = analysis::count_classes(classified).count;
    std::string classes;
    Json peers = Json::array();
    Json pids = Json::array();
    Json assigned = Json::array();
    Json assigned_nvml = Json::array();
    Json from = Json::array();
    Json to = Json::array();
    Json init = Json::array();
    const int count = run.record.topology.workers();
    for (int i = 0; i < count; ++i) {
      const evidence::WorkerRecord* worker = roster.record(i);
      if (!classified.empty()) {
        const analysis::Classified& c = classified.at(static_cast<size_t>(i));
        classes += static_cast<char>('0' + static_cast<int>(c.cls));
        peers.push_back(c.peer_worker.value_or(-1));
        assigned.push_back(worker != nullptr ? or_null(worker->discovery.assigned_pid) : Json(nullptr));
        assigned_nvml.push_back(worker != nullptr ? or_null(analysis::claims_of(worker->discovery).nvml_pid)
                                                  : Json(nullptr));
      }
      pids.push_back(worker != nullptr ? or_null(worker->pid) : Json(nullptr));
      from.push_back(worker != nullptr ? microseconds(worker->released_ns) : Json(nullptr));
      to.push_back(worker != nullptr ? microseconds(worker->finished_ns) : Json(nullptr));
      init.push_back(worker != nullptr ? microseconds(worker->cuinit_ns) : Json(nullptr));
    }
    json["cls"] = std::move(classes);
    json["peer"] = std::move(peers);
    json["pid"] = std::move(pids);
    json["got"] = std::move(assigned);
    if (run.record.identity_kind == evidence::IdentityKind::kBoth) json["nvml"] = std::move(assigned_nvml);
    json["from"] = std::move(from);
    json["to"] = std::move(to);
    json["init"] = std::move(init);
  }

  [[nodiscard]] Json ecdf() const {
    std::vector<std::vector<int64_t>> values(model_.summary.conditions.size());
    for (size_t i = 0; i < source_.runs.size(); ++i) {
      if (!valid_[i]) continue;
      for (const evidence::WorkerRecord& worker : source_.runs[i].workers) {
        if (worker.cuinit_result == 0 && worker.cuinit_ns) {
          values.at(condition_of(source_.runs[i].record)).push_back(*worker.cuinit_ns);
        }
      }
    }
    Json list = Json::array();
    for (size_t c = 0; c < values.size(); ++c) {
      std::vector<int64_t>& all = values[c];
      if (all.empty()) continue;
      std::sort(all.begin(), all.end());
      const size_t n = all.size();
      const size_t points = std::min(n, kMaxEcdfPoints);
      Json v = Json::array();
      for (size_t i = 1; i <= points; ++i) v.push_back(all[(i * n + points - 1) / points - 1] / kNsPerUs);
      list.push_back(Json{{"c", c}, {"n", n}, {"v", std::move(v)}});
    }
    return list;
  }

  [[nodiscard]] const MeasureRow* wall_of(const Condition& c) const {
    for (const MeasureRow& row : model_.summary.measures) {
      if (row.measure == "external_wall_s" && row.arm == c.arm && row.topology == c.topology &&
          row.workload == c.workload && row.hold == c.hold)
        return &row;
    }
    return nullptr;
  }

  static void add_interval(const analysis::Estimate& e, Json& json) {
    json["low"] = e.ci95 ? Json(e.ci95->low) : Json(nullptr);
    json["high"] = e.ci95 ? Json(e.ci95->high) : Json(nullptr);
    json["few"] = e.few();
  }

  [[nodiscard]] Json walls() const {
    const int decimals = seconds_decimals(model_.summary);
    Json list = Json::array();
    for (size_t i = 0; i < model_.summary.conditions.size(); ++i) {
      const Condition& c = model_.summary.conditions[i];
      const MeasureRow* row = wall_of(c);
      if (row == nullptr || !row->estimate.mean) continue;
      Json json;
      json["c"] = i;
      json["mean"] = *row->estimate.mean;
      add_interval(row->estimate, json);
      json["text"] = seconds_text(c.external_wall_s, decimals);
      json["values"] = Json::array();
      for (const auto& [id, value] : row->values)
        json["values"].push_back(Json::array({printable(id, 2 * kMaxArmWidth), value}));
      list.push_back(std::move(json));
    }
    return list;
  }

  [[nodiscard]] Json growth() const {
    Json list = Json::array();
    for (const Growth& series : growth_of(model_.summary)) {
      const Condition& first = *series.conditions.front();
      Json json;
      json["arm"] = arm_text(first.arm, first.workload, first.hold, mixed_);
      json["where"] = series.where;
      json["one"] = series.one_cache;
      json["points"] = Json::array();
      for (const Condition* c : series.conditions) {
        Json point;
        point["n"] = c->topology.workers();
        point["topology"] = c->topology.text();
        point["mean"] = *c->external_wall_s.mean;
        add_interval(c->external_wall_s, point);
        json["points"].push_back(std::move(point));
      }
      list.push_back(std::move(json));
    }
    return list;
  }

  const ReportModel& model_;
  const ReportSource& source_;
  bool mixed_;
  std::vector<bool> valid_;  // as source_.runs
  int64_t left_out_ = 0;
};

}  // namespace

std::string chart_data(const ReportModel& model, const ReportSource& source) {
  return ChartData(model, source).all().dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rollcall::report
