// The single checks of verify_folder(), each a function of what was read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"
#include "verify/verify.h"

namespace rollcall::verify {

// What the checks find, once per file.
class Findings {
 public:
  explicit Findings(Verification& verification) : verification_(verification) {}
  void differs(const std::string& file, const std::string& what);
  void note(std::string sentence) { verification_.notes.push_back(std::move(sentence)); }

 private:
  Verification& verification_;
};

// plan.json, environment.json and the runs name one plan, and every run of the plan is there
// and no other. With no runs, because they cannot be read, the files alone are compared.
base::Result<void> check_plan(const std::filesystem::path& folder, const std::vector<evidence::Run>& runs,
                              Verification& verification);

// Everything in derived/ against what follows from the records now.
base::Result<void> check_derived(const std::filesystem::path& folder, const std::vector<evidence::Run>& runs,
                                 Verification& verification);

}  // namespace rollcall::verify
