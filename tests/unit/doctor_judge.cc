// Given these facts, this line passes, warns or fails. What is not known never passes.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "doctor/judge.h"

namespace rollcall::doctor {
namespace {

constexpr uint64_t kMib = 1 << 20;

// A node on which everything is as it should be.
Facts good() {
  Facts facts;
  facts.kernel_release = "6.18.0-amd64";
  facts.pid_namespace = base::kInitialPidNamespaceInode;
  facts.proc_is_own = true;
  probe::NodeFacts node;
  node.cuinit_result = 0;
  node.cuda_version = 13000;
  node.driver_version = "580.159.04";
  node.cuda_uuids = {"GPU-1"};
  node.devices = {{0, "GPU-1", "NVIDIA H200", 143'771 * kMib, 143'000 * kMib, true, false, 0}};
  facts.node = node;
  probe::ViewFacts view;
  view.view = probe::ViewKind::kTranslated;
  view.child_host_pid = 4711;
  view.child_own_pid = 18;
  view.own_namespace = true;
  view.new_inside = {18};
  view.new_outside = {4711};
  view.memory_bytes = 518 * kMib;
  view.host_memory_bytes = 40 * kMib;
  view.stride_v1 = 16;
  view.stride_v2 = view.stride_v3 = 24;
  view.caller_is_listed_as_itself = true;
  facts.view = view;
  facts.workers = 250;
  facts.memory_total_bytes = 128 * 1024 * kMib;
  facts.memory_available_bytes = 100 * 1024 * kMib;
  return facts;
}

Check line(const Facts& facts, const std::string& id) {
  for (const Check& check : judge(facts)) {
    if (check.id == id) return check;
  }
  ADD_FAILURE() << "no line " << id;
  return {};
}

TEST(Judge, AGoodNodePassesEverywhere) {
  const auto checks = judge(good());
  EXPECT_EQ(checks.size(), 17U);
  for (const Check& check : checks) {
    EXPECT_EQ(check.status, Status::kPass) << check.id << ": " << check.found;
    EXPECT_FALSE(check.found.empty()) << check.id;
    EXPECT_EQ(check.next, "") << check.id;
  }
  EXPECT_TRUE(healthy(checks));
}

struct Case {
  const char* id;
  Status status;
  const char* says;  // in what was found or in what to do
  std::function<void(Facts&)> change;
};

TEST(Judge, OneThingWrongIsSaidInItsLine) {
  const std::vector<Case> cases = {
      {"kernel", Status::kWarn, "gVisor", [](Facts& f) { f.kernel_release = "4.4.0"; }},
      {"kernel", Status::kFail, "5.3", [](Facts& f) { f.kernel_release = "4.18.0-553.el8"; }},
      {"kernel", Status::kPass, "5.3", [](Facts& f) { f.kernel_release = "5.3.0"; }},
      {"kernel", Status::kWarn, "not known", [](Facts& f) { f.kernel_release = ""; }},
      {"pid_namespace", Status::kWarn, "4026532177", [](Facts& f) { f.pid_namespace = 4026532177; }},
      {"pid_namespace", Status::kWarn, "not known", [](Facts& f) { f.pid_namespace.reset(); }},
      {"pid_namespace", Status::kPass, "virtual machine", [](Facts& f) { f.virtual_machine = true; }},
      {"proc", Status::kFail, "mount", [](Facts& f) { f.proc_is_own = false; }},
      {"proc", Status::kFail, "mount", [](Facts& f) { f.proc_is_own.reset(); }},
      {"cuda_driver", Status::kFail, "simulated node",
       [](Facts& f) { f.node->cuda_error = "cuInit returned 100 (no device)"; }},
      {"cuda_driver", Status::kFail, "signal 11",
       [](Facts& f) { f.node = base::failure("", "ended by signal 11"); }},
      {"devices", Status::kWarn, "NVML does not show", [](Facts& f) { f.node->cuda_uuids = {"GPU-9"}; }},
      {"nvml", Status::kFail, "returned 9", [](Facts& f) { f.node->nvml_error = "nvmlInit returned 9"; }},
      {"nvml", Status::kFail, "cannot be listed", [](Facts& f) { f.node->processes_error = "refused"; }},
      {"nvml_pids", Status::kPass, "global", [](Facts& f) { f.view->view = probe::ViewKind::kGlobal; }},
      {"nvml_pids", Status::kWarn, "host's PID namespace",
       [](Facts& f) {
         f.view->view = probe::ViewKind::kGlobal;
         f.view->caller_is_listed_as_itself = false;
       }},
      {"nvml_pids", Status::kWarn, "thread", [](Facts& f) { f.view->view = probe::ViewKind::kThreadIds; }},
      {"nvml_pids", Status::kWarn, "not known: hidden",
       [](Facts& f) {
         f.view->view = probe::ViewKind::kUnknown;
         f.view->reason = "hidden";
       }},
      {"nvml_pids", Status::kWarn, "deadline", [](Facts& f) { f.view = base::failure("", "deadline"); }},
      {"process_entries", Status::kWarn, "32 (v3)", [](Facts& f) { f.view->stride_v3 = 32; }},
      {"process_entries", Status::kWarn, "not known",
       [](Facts& f) { f.view->stride_v1 = f.view->stride_v2 = f.view->stride_v3 = std::nullopt; }},
      {"process_entries", Status::kPass, "16 (v1), not known (v2)",
       [](Facts& f) { f.view->stride_v2.reset(); }},
      {"process_memory", Status::kWarn, "does not tell", [](Facts& f) { f.view->memory_bytes.reset(); }},
      {"gpu_idle", Status::kWarn, "77 (python, 9 MiB)",
       [](Facts& f) {
         f.node->processes = {{0, 77, 9 * kMib, "python"}};
       }},
      {"gpu_idle", Status::kWarn, "cannot see",
       [](Facts& f) { f.node->devices[0].memory_free_bytes = 1000 * kMib; }},
      {"gpu_idle", Status::kWarn, "not known",
       [](Facts& f) { f.node->devices[0].memory_free_bytes.reset(); }},
      {"mig", Status::kWarn, "device 0", [](Facts& f) { f.node->devices[0].mig_enabled = true; }},
      {"mig", Status::kWarn, "not known", [](Facts& f) { f.node->devices[0].mig_enabled.reset(); }},
      {"mps", Status::kWarn, "/tmp/mps", [](Facts& f) { f.mps_pipe_directory = "/tmp/mps"; }},
      {"mps", Status::kWarn, "PID 5",
       [](Facts& f) {
         f.node->processes = {{0, 5, std::nullopt, "/usr/bin/nvidia-cuda-mps-server"}};
       }},
      {"compute_mode", Status::kFail, "nvidia-smi -c DEFAULT",
       [](Facts& f) { f.node->devices[0].compute_mode = 3; }},
      {"compute_mode", Status::kWarn, "not known", [](Facts& f) { f.node->devices[0].compute_mode.reset(); }},
      {"persistence", Status::kWarn, "nvidia-smi -pm 1",
       [](Facts& f) { f.node->devices[0].persistence_mode = false; }},
      {"persistence", Status::kWarn, "not known",
       [](Facts& f) { f.node->devices[0].persistence_mode.reset(); }},
      {"process_limits", Status::kFail, "ulimit -n", [](Facts& f) { f.limits.open_files_hard = 100; }},
      {"device_memory", Status::kWarn, "at most 277", [](Facts& f) { f.workers = 278; }},
      {"device_memory", Status::kPass, "277 contexts", [](Facts& f) { f.workers = 277; }},
      {"device_memory", Status::kWarn, "not measured", [](Facts& f) { f.view->memory_bytes.reset(); }},
      {"host_memory", Status::kWarn, "ballooning", [](Facts& f) { f.memory_available_bytes = 1000 * kMib; }},
      {"host_memory", Status::kWarn, "not known", [](Facts& f) { f.memory_available_bytes.reset(); }},
      {"host_memory", Status::kWarn, "not measured", [](Facts& f) { f.view->host_memory_bytes.reset(); }},
      {"shim", Status::kFail, "invalid ELF header",
       [](Facts& f) {
         f.shim = "x.so";
         f.shim_loads = base::failure("x.so", "invalid ELF header");
       }},
      {"shim", Status::kPass, "x.so", [](Facts& f) {
         f.shim = "x.so";
         f.shim_loads = base::Result<void>();
       }}};
  for (const Case& one : cases) {
    Facts facts = good();
    one.change(facts);
    const Check check = line(facts, one.id);
    EXPECT_EQ(check.status, one.status) << one.id << ": " << check.found;
    EXPECT_NE((check.found + check.next).find(one.says), std::string::npos)
        << one.id << " does not say '" << one.says << "': " << check.found << " " << check.next;
    // A failure says what to do; and only a failure makes the node unfit.
    EXPECT_TRUE(check.status != Status::kFail || !check.next.empty()) << one.id;
    EXPECT_EQ(healthy(judge(facts)), one.status != Status::kFail) << one.id << ": " << one.says;
  }
}

TEST(Judge, WithoutAnyDriverOneLineFailsAndNothingOfItPasses) {
  Facts facts = good();
  probe::NodeFacts none;
  none.cuda_error = "libcuda.so.1: cannot be loaded";
  none.nvml_error = none.processes_error = "libnvidia-ml.so.1: cannot be loaded";
  facts.node = none;
  facts.view = probe::ViewFacts{};
  facts.view->reason = none.nvml_error;
  std::map<Status, int> counts;
  const auto checks = judge(facts);
  for (const Check& check : checks) ++counts[check.status];
  EXPECT_EQ(counts[Status::kFail], 1);
  EXPECT_EQ(line(facts, "cuda_driver").status, Status::kFail);
  EXPECT_EQ(counts[Status::kPass], 4);  // kernel, namespace, /proc, limits
  EXPECT_FALSE(healthy(checks));
}

TEST(Judge, AQuestionThatGotNoAnswerPassesNothingEither) {
  Facts facts = good();
  facts.node = base::failure("rollcall-probe node", "no answer");
  facts.view = base::failure("rollcall-probe view", "no answer");
  for (const Check& check : judge(facts)) {
    const bool of_the_machine = check.id == "kernel" || check.id == "pid_namespace" || check.id == "proc" ||
                                check.id == "process_limits";
    EXPECT_EQ(check.status == Status::kPass, of_the_machine) << check.id << ": " << check.found;
  }
}

TEST(Report, LinesAreNarrowAndJsonHasEveryCheck) {
  Facts facts = good();
  facts.node->driver_library = std::string(60, 'a') + " " + std::string(60, 'b') + "\x1b[31m";
  const auto checks = judge(facts);
  const std::string text = text_report(checks);
  size_t start = 0;
  for (size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    EXPECT_LE(end - start, 100U) << text.substr(start, end - start);
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const auto json = nlohmann::json::parse(json_report(checks, facts));
  EXPECT_EQ(json["checks"].size(), checks.size());
  EXPECT_EQ(json["facts"]["view"]["view"], "translated");
  EXPECT_EQ(json["facts"]["workers"], 250);
}

}  // namespace
}  // namespace rollcall::doctor
