// OpenMetrics 1.0: a family's samples stand together, a counter's name ends in _total,
// a histogram's buckets are cumulative, units are base units, and "# EOF" is the end,
// so that a file that was cut off is known for one. Only types that the older text
// format of Prometheus knows too: node_exporter's textfile collector reads that.
#include "broker/counters.h"

#include <fmt/format.h>

#include <iterator>

namespace rollcall::broker {
namespace {

constexpr std::array<const char*, kRefusals> kRefusalNames = {"tenant_bound", "total_bound",    "evicted",
                                                              "timeout",      "hang_up",        "invalid",
                                                              "peer_gone",    "no_descriptors", "ending"};
constexpr std::array<const char*, kStatuses> kStatusNames = {"ok", "invalid", "busy", "peer_gone"};
constexpr std::array<const char*, kCommands> kCommandNames = {"pid", "extended"};

using Out = std::back_insert_iterator<std::string>;

void family(Out out, const char* name, const char* type, const char* help) {
  fmt::format_to(out, "# TYPE {0} {1}\n# HELP {0} {2}\n", name, type, help);
}

void write_requests(Out out, const Counters& counters) {
  family(out, "hostpidd_requests", "counter", "Whole requests, by command and by the status answered.");
  for (size_t command = 0; command < kCommands; ++command) {
    for (size_t status = 0; status < kStatuses; ++status) {
      // What is no request has no command either; it is counted as a refusal.
      if (status == static_cast<size_t>(hostpid::WireStatus::kInvalidRequest)) continue;
      fmt::format_to(out, "hostpidd_requests_total{{command=\"{}\",status=\"{}\"}} {}\n",
                     kCommandNames[command], kStatusNames[status], counters.requests[command][status]);
    }
  }
}

void write_refusals(Out out, const Counters& counters) {
  family(out, "hostpidd_refusals", "counter", "Connections that got no PID, by cause.");
  for (size_t cause = 0; cause < kRefusals; ++cause) {
    fmt::format_to(out, "hostpidd_refusals_total{{cause=\"{}\"}} {}\n", kRefusalNames[cause],
                   counters.refusals[cause]);
  }
}

void write_latency(Out out, const Counters& counters) {
  constexpr const char* kName = "hostpidd_answer_seconds";
  family(out, kName, "histogram", "Time from accepting a connection to its answer.");
  uint64_t so_far = 0;
  for (size_t i = 0; i < kLatencyBucketsUs.size(); ++i) {
    so_far += counters.latency[i];
    fmt::format_to(out, "{}_bucket{{le=\"{}\"}} {}\n", kName, kLatencyBucketsUs[i] / 1e6, so_far);
  }
  so_far += counters.latency.back();
  fmt::format_to(out, "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_count {1}\n{0}_sum {2:.9f}\n", kName, so_far,
                 static_cast<double>(counters.latency_sum_ns) / 1e9);
}

}  // namespace

void Counters::count_request(hostpid::Command command, hostpid::WireStatus status, int64_t latency_ns) {
  ++requests[static_cast<size_t>(command) - 1][static_cast<size_t>(status)];
  size_t bucket = 0;
  while (bucket < kLatencyBucketsUs.size() && latency_ns > int64_t{kLatencyBucketsUs[bucket]} * 1000)
    ++bucket;
  ++latency[bucket];
  latency_sum_ns += static_cast<uint64_t>(latency_ns);
}

const char* to_text(hostpid_nvml_view view) {
  switch (view) {
    case HOSTPID_VIEW_GLOBAL:
      return "global";
    case HOSTPID_VIEW_TRANSLATED:
      return "translated";
    case HOSTPID_VIEW_UNKNOWN:
      break;
  }
  return "unknown";
}

std::string metrics_text(const Counters& counters, const Moment& moment) {
  std::string text;
  const Out out(text);
  write_requests(out, counters);
  write_refusals(out, counters);
  write_latency(out, counters);
  family(out, "hostpidd_connections_accepted", "counter", "Connections accepted.");
  fmt::format_to(out, "hostpidd_connections_accepted_total {}\n", counters.accepted);
  family(out, "hostpidd_metrics_write_failures", "counter", "Times that this file could not be written.");
  fmt::format_to(out, "hostpidd_metrics_write_failures_total {}\n", counters.metrics_failures);
  family(out, "hostpidd_connections_waiting", "gauge", "Connections that have not sent a whole request.");
  fmt::format_to(out, "hostpidd_connections_waiting {}\n", moment.waiting);
  family(out, "hostpidd_tenants_waiting", "gauge", "Tenants that these connections belong to.");
  fmt::format_to(out, "hostpidd_tenants_waiting {}\n", moment.tenants);
  family(out, "hostpidd_start_time_seconds", "gauge", "When the broker started, since the epoch.");
  fmt::format_to(out, "hostpidd_start_time_seconds {:.3f}\n", moment.start_time_s);
  family(out, "hostpidd_build", "gauge", "1, for the version that runs.");
  fmt::format_to(out, "hostpidd_build{{version=\"{}\"}} 1\n", ROLLCALL_VERSION);
  family(out, "hostpidd_nvml_view", "gauge", "1, for how NVML numbers processes on this node.");
  fmt::format_to(out, "hostpidd_nvml_view{{view=\"{}\"}} 1\n", to_text(moment.view));
  text += "# EOF\n";
  return text;
}

}  // namespace rollcall::broker
