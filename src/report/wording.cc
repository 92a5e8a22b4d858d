#include "report/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "report/text_table.h"

namespace rollcall::report {
namespace {

// From here on two decimals show a thousandth of the value.
constexpr double kTwoDecimalsFrom = 10;

}  // namespace

std::string plural(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string seconds_text(const analysis::Estimate& time, int decimals) {
  if (!time.mean) return "not known";
  if (!time.sd) return fmt::format("{:.{}f} s", *time.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f} s", *time.mean, decimals, *time.sd, decimals);
}

int seconds_decimals(double shortest_s) {
  return shortest_s >= kTwoDecimalsFrom ? 2 : 3;
}

int seconds_decimals(const analysis::ExperimentSummary& summary) {
  double shortest_s = std::numeric_limits<double>::infinity();
  for (const analysis::Condition& c : summary.conditions) {
    shortest_s = std::min(shortest_s, c.external_wall_s.mean.value_or(shortest_s));
  }
  return seconds_decimals(shortest_s);
}

std::string ratio_text(double ratio) {
  return fmt::format("{:.2f}×", ratio);
}

std::string ratio_text(const analysis::Ratio& ratio) {
  if (!ratio.value) return {};
  if (!ratio.ci95) return ratio_text(*ratio.value);
  return fmt::format("{:.2f}× ({:.2f}–{:.2f})", *ratio.value, ratio.ci95->low, ratio.ci95->high);
}

std::string three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
  constexpr int kMaxDecimals = 6;
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(2 - exponent, 0, kMaxDecimals));
}

std::string percent_text(double share) {
  constexpr double kHundred = 100;
  const double percent = share * kHundred;
  if (percent == std::floor(percent)) return fmt::format("{:.0f} %", percent);
  // Next to nothing and next to all are not rounded to nothing and all.
  if (percent < 1) return three_digits(percent) + " %";
  if (percent > kHundred - 1) return fmt::format("{:.2f} %", std::floor(percent * kHundred) / kHundred);
  return fmt::format("{:.1f} %", percent);
}

bool has_mixed_workloads(const analysis::ExperimentSummary& summary) {
  std::set<std::pair<evidence::Workload, evidence::Hold>> kinds;
  for (const analysis::Condition& c : summary.conditions) kinds.emplace(c.workload, c.hold);
  return kinds.size() > 1;
}

std::string arm_text(std::string_view arm, evidence::Workload workload, evidence::Hold hold, bool mixed) {
  std::string text = printable(arm, kMaxArmWidth);
  if (mixed && workload == evidence::Workload::kContext) text += " +context";
  if (mixed && hold == evidence::Hold::kAll) text += " +hold";
  return text;
}

std::string topology_kind(const evidence::Topology& topology) {
  if (topology.workers() == 1) return "one worker alone";
  return topology.caches() == 1 ? "one shared cache" : "isolated caches";
}

std::string setting_text(const analysis::Setting& setting) {
  std::string text =
      setting.node == evidence::NodeKind::kUnknown ? "Read from logs" : "Measured on a real node";
  if (!setting.device_name.empty()) text += ": " + printable(setting.device_name, kMaxNameWidth);
  if (!setting.driver_version.empty()) text += ", driver " + printable(setting.driver_version, kMaxNameWidth);
  if (setting.node == evidence::NodeKind::kSimulated) {
    text =
        fmt::format("Measured on the simulated node, profile {}", printable(setting.profile, kMaxNameWidth));
    text += setting.time_scale ? fmt::format(", time scale {}", *setting.time_scale) : ", time scale unknown";
  }
  if (setting.isolation != evidence::Isolation::kNone) {
    text += fmt::format(", isolation {}, NVML view {}", to_text(setting.isolation), to_text(setting.view));
  }
  if (setting.broker) text += ", with a broker";
  if (setting.neighbours > 0) text += fmt::format(", beside {}", plural(setting.neighbours, "neighbour"));
  if (!setting.devices.empty()) {
    text += fmt::format(", devices {}",
                        printable(fmt::format("{}", fmt::join(setting.devices, "/")), kMaxNameWidth));
  }
  if (setting.truth != "launcher") text += "; not checked against a launcher";
  return text;
}

std::string milliseconds_text(std::optional<int64_t> ns) {
  constexpr double kNsPerMs = 1e6;
  return ns ? three_digits(static_cast<double>(*ns) / kNsPerMs) + " ms" : std::string();
}

}  // namespace rollcall::report
