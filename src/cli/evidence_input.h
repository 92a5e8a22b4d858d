// Evidence as the commands get it that derive something from it: a folder or an archive,
// with its seal checked first, because nothing is derived from evidence that was changed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "base/error.h"
#include "evidence/records.h"
#include "evidence/seal.h"

namespace rollcall::cli {

struct EvidenceInput {
  std::string name;  // as the user called it
  archive::OpenedEvidence opened;
  bool finished = true;               // SHA256SUMS is there
  std::vector<evidence::Run> runs{};  // at least one

  [[nodiscard]] const std::filesystem::path& folder() const { return opened.folder(); }
};

// Differences from the seal that the caller knows how to mend.
using Tolerated = std::function<bool(const evidence::Difference&)>;
base::Result<EvidenceInput> open_evidence(const std::string& name, const Tolerated& tolerated = {});

// Says on standard error that only some runs are there, and how to go on; nothing where it is finished.
// `what` is what is made of them: "the tables are of".
void tell_unfinished(const EvidenceInput& input, const std::string& what);

}  // namespace rollcall::cli
