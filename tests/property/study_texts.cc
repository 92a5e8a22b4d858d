// Texts from outside (the kernel, the environment, a mistyped name) never make
// their readers fall over or read too far.
#include <gtest/gtest.h>
#include <string.h>

#include <memory>

#include "base/nearest.h"
#include "base/process.h"
#include "study/collect.h"
#include "study_generators.h"
#include "worker/fault.h"

namespace rollcall::property {
namespace {

using worker::FaultAction;

// A copy of exactly that many bytes, so that a sanitizer sees every read beyond.
struct Exactly {
  explicit Exactly(const std::string& text) : size(text.size()), bytes(new char[size]) {
    memcpy(bytes.get(), text.data(), size);
  }
  size_t size;
  std::unique_ptr<char[]> bytes;
};

TEST(Texts, AnyFaultOrderIsFoundOrNot) {
  EXPECT_TRUE(rc::check("find_fault returns", [] {
    auto text = *rc::gen::oneOf(
        rc::gen::container<std::string>(rc::gen::element(':', ',', '0', '1', 'k', ' ')),
        rc::gen::arbitrary<std::string>(), nearly("0:start:kill,1:gate:crash,12:finish:exit"));
    const auto action = worker::find_fault(text.c_str(), *rc::gen::inRange(0U, 20U), "start");
    RC_CLASSIFY(action != FaultAction::kNone, "found");
  }));
}

TEST(Texts, EveryFaultOrderIsFoundForItsWorkerAndStageAlone) {
  EXPECT_TRUE(rc::check("find_fault(print(order)) is the order", [] {
    const auto workers = *rc::gen::container<std::set<unsigned>>(rc::gen::inRange(0U, 4096U));
    const auto stage = *rc::gen::element<std::string>("start", "gate", "release", "finish");
    std::string text;
    for (const unsigned worker : workers) {
      text += (text.empty() ? "" : ",") + std::to_string(worker) + ":" + stage + ":stop";
    }
    const auto asked = *rc::gen::oneOf(rc::gen::inRange(0U, 4096U), rc::gen::inRange(0U, 20U));
    const bool ordered = workers.count(asked) != 0;
    RC_ASSERT((worker::find_fault(text.c_str(), asked, stage.c_str()) == FaultAction::kStop) == ordered);
    RC_ASSERT(worker::find_fault(text.c_str(), asked, "other") == FaultAction::kNone);
  }));
}

TEST(Texts, AnyStatFileHasAStartTimeOrNone) {
  EXPECT_TRUE(rc::check("parse_start_time returns", [] {
    const Exactly text(
        *rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                        nearly("42 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 123456 1000 77\n")));
    base::parse_start_time(text.bytes.get(), text.size);
  }));
}

TEST(Texts, AStartTimeIsFoundBehindAnyCommandName) {
  EXPECT_TRUE(rc::check("the name does not matter", [] {
    const auto name = *rc::gen::arbitrary<std::string>();
    const auto time = *rc::gen::arbitrary<uint64_t>();
    const std::string text =
        "1 (" + name + ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " + std::to_string(time) + " 5";
    RC_ASSERT(base::parse_start_time(text.data(), text.size()) == time);
  }));
}

TEST(Texts, EveryNspidLineIsReadBack) {
  EXPECT_TRUE(rc::check("parse_nspid(print(pids)) == pids", [] {
    const auto pids = *rc::gen::container<std::vector<pid_t>>(rc::gen::inRange(1, INT32_MAX));
    std::string text = "Name:\tx\nNSpid:";
    for (const pid_t pid : pids) text += "\t" + std::to_string(pid);
    text += "\nNSpgid:\t1\n";
    std::vector<pid_t> found(pids.size() + 1);
    found.resize(base::parse_nspid(text.data(), text.size(), found.data(), found.size()));
    RC_ASSERT(found == pids);
  }));
}

TEST(Texts, AnyStatusFileIsReadWithinItsBounds) {
  EXPECT_TRUE(rc::check("parse_nspid returns", [] {
    const Exactly text(
        *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), nearly("Name:\tx\nNSpid:\t4242\t17\nFoo:\t1\n")));
    const auto capacity = *rc::gen::inRange<size_t>(0, 4);
    const std::unique_ptr<pid_t[]> pids(new pid_t[capacity]);
    RC_ASSERT(base::parse_nspid(text.bytes.get(), text.size, pids.get(), capacity) <= capacity);
  }));
}

TEST(Texts, AnyMapsAreRead) {
  const std::string maps =
      "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234    /a/libcuda.so.1\n7f00-7f01 rw-p 00000000 00:00 "
      "0 \n";
  EXPECT_TRUE(rc::check("find_libraries returns", [&] {
    const auto text = *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), nearly(maps));
    study::find_libraries(text, {"/a/shim.so"});
  }));
}

TEST(Texts, TheDistanceOfNamesIsADistance) {
  const auto word = rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
  EXPECT_TRUE(rc::check("edit_distance is a metric", [&] {
    const auto a = *word;
    const auto b = *word;
    const auto c = *word;
    RC_ASSERT((base::edit_distance(a, b) == 0) == (a == b));
    RC_ASSERT(base::edit_distance(a, b) == base::edit_distance(b, a));
    RC_ASSERT(base::edit_distance(a, c) <= base::edit_distance(a, b) + base::edit_distance(b, c));
    RC_ASSERT(base::edit_distance(a, b) <= std::max(a.size(), b.size()));
  }));
}

}  // namespace
}  // namespace rollcall::property
