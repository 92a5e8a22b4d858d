// Whether an evidence folder is what was sealed, belongs together, and says nothing
// but what follows from its raw records. Three questions, each asked of all files,
// so that a reviewer learns of every difference at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/seal.h"

namespace rollcall::verify {

struct Verification {
  bool finished = true;  // SHA256SUMS is there; without it nothing else is checked
  // By path; a file that differs in several ways is named once, with the first.
  std::vector<evidence::Difference> differences;
  // What was not compared, and why: sentences without a full stop.
  std::vector<std::string> notes;

  size_t files = 0;
  uint64_t size_bytes = 0;
  size_t runs = 0;
  size_t workers = 0;
  std::vector<std::string> derived_again;  // derived files that were derived again and are the same
  std::string derived_by;                  // "rollcall 0.2.0"; empty: not recorded
  std::string plan_sha256;                 // empty: there is no plan (imported logs)
  std::string seal_sha256;                 // of SHA256SUMS itself: what a publication would quote

  [[nodiscard]] bool holds() const { return finished && differences.empty(); }
};

// Fails only where something cannot be read; what is wrong with the evidence is a difference.
base::Result<Verification> verify_folder(const std::filesystem::path& folder);

// For people and for programs; both end with a newline. `name` is what the user called it.
std::string verification_text(const Verification& verification, const std::string& name);
std::string verification_json(const Verification& verification, const std::string& name);

}  // namespace rollcall::verify
