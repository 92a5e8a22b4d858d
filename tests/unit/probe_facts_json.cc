// What rollcall-probe prints is read back as the same facts, and nothing else is
// taken for facts: "not known" stays apart from 0.
#include <gtest/gtest.h>

#include "probe/observe.h"

namespace rollcall::probe {
namespace {

NodeFacts full_node() {
  NodeFacts facts;
  facts.cuinit_result = 0;
  facts.cuda_version = 13000;
  facts.driver_library = "/usr/lib/libcuda.so.580.159.04";
  facts.cuda_uuids = {"GPU-1", "GPU-2"};
  facts.driver_version = "580.159.04";
  facts.devices = {{0, "GPU-2", "NVIDIA H200", 150'000'000'000, 149'000'000'000, true, false, 0},
                   {1, "GPU-1", "", std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt}};
  facts.processes = {{0, 4711, 543162368, "python"}, {1, INT64_C(4294967295), std::nullopt, ""}};
  facts.stride_v1 = 16;
  facts.stride_v3 = 32;
  return facts;
}

TEST(FactsJson, NodeFactsComeBackAsTheyWere) {
  for (const NodeFacts& facts : {NodeFacts{}, full_node()}) {
    const auto back = parse_node_facts(print_node_facts(facts));
    ASSERT_TRUE(back) << back.error().line();
    EXPECT_EQ(*back, facts);
  }
}

TEST(FactsJson, ViewFactsComeBackAsTheyWere) {
  for (const ViewKind kind :
       {ViewKind::kUnknown, ViewKind::kGlobal, ViewKind::kTranslated, ViewKind::kThreadIds}) {
    ViewFacts facts;
    EXPECT_EQ(parse_view_facts(print_view_facts(facts)), facts);
    facts.view = kind;
    facts.reason = "line\nbreak \"quoted\"";
    facts.child_host_pid = 4711;
    facts.child_own_pid = 18;
    facts.child_thread_ids = {4711, 4712};
    facts.own_namespace = true;
    facts.new_inside = {18};
    facts.new_outside = {4711, 4713};
    facts.memory_bytes = 543162368;
    facts.host_memory_bytes = 40 << 20;
    facts.stride_v2 = 24;
    facts.caller_is_listed_as_itself = false;
    const auto back = parse_view_facts(print_view_facts(facts));
    ASSERT_TRUE(back) << back.error().line();
    EXPECT_EQ(*back, facts);
  }
}

TEST(FactsJson, ProcessesComeBackAsTheyWere) {
  const std::vector<ListedProcess> processes = full_node().processes;
  EXPECT_EQ(parse_processes(print_processes(processes)), processes);
  EXPECT_EQ(parse_processes(print_processes({})), std::vector<ListedProcess>{});
}

TEST(FactsJson, WhatIsNotKnownIsLeftOut) {
  const std::string text = print_node_facts({});
  for (const char* key : {"cuinit_result", "cuda_version", "stride_v1", "null"}) {
    EXPECT_EQ(text.find(key), std::string::npos) << key;
  }
}

TEST(FactsJson, BytesThatAreNotUtf8AreReplaced) {
  NodeFacts facts;
  facts.driver_version = "58\xff";
  facts.processes = {{0, 1, 2, "\xc3"}};
  EXPECT_TRUE(parse_node_facts(print_node_facts(facts)));
}

TEST(FactsJson, ADocumentThatIsNotOfThisKindIsRefused) {
  for (const char* text : {"", "{}", "[]", "null", "{\"view\":\"sideways\"}"}) {
    EXPECT_FALSE(parse_node_facts(text)) << text;
    EXPECT_FALSE(parse_view_facts(text)) << text;
    EXPECT_FALSE(parse_processes(text)) << text;
  }
  // Nobody listed must be said; an error is not a list.
  EXPECT_FALSE(parse_processes(R"({"error": "NVML refused"})"));
  EXPECT_FALSE(parse_processes(R"({"processes": [{"device": 0, "pid": -1, "name": ""}]})"));
  EXPECT_FALSE(parse_processes(R"({"processes": [{"device": 0, "name": ""}]})"));
}

}  // namespace
}  // namespace rollcall::probe
