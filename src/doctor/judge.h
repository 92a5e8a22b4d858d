// What the facts mean for an experiment here: a line for each, with what was found
// and what to do. Pure: the same facts, the same lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

namespace rollcall::doctor {

enum class Status {
  kPass,
  kWarn,  // an experiment works here, but reads differently; or it is not known
  kFail,  // an experiment cannot work here
};
std::string_view to_text(Status status);  // "pass", "warn", "fail"

struct Check {
  std::string id;  // stable: "kernel", "pid_namespace", …; docs/doctor.md lists them
  Status status = Status::kWarn;
  std::string found;
  std::string next;  // what to do; empty if nothing
};

std::vector<Check> judge(const Facts& facts);

// Nothing failed.
bool healthy(const std::vector<Check>& checks);

// For people, at most 100 columns; for programs, {"checks": […], "facts": {…}}.
std::string text_report(const std::vector<Check>& checks);
std::string json_report(const std::vector<Check>& checks, const Facts& facts);

}  // namespace rollcall::doctor
