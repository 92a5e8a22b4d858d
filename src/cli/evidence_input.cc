// See evidence_input.h.
#include "cli/evidence_input.h"

#include <fmt/format.h>

#include <system_error>

#include "cli/command.h"
#include "evidence/folder.h"
#include "evidence/layout.h"

namespace rollcall::cli {

base::Result<EvidenceInput> open_evidence(const std::string& name, const Tolerated& tolerated) {
  auto opened = archive::OpenedEvidence::open(name);
  if (!opened) return tl::unexpected(opened.error());
  EvidenceInput input{name, std::move(*opened)};
  const auto seal = evidence::examine_seal(input.folder());
  if (!seal) return tl::unexpected(seal.error());
  input.finished = seal->state != evidence::SealState::kUnfinished;
  for (const evidence::Difference& one : seal->differences) {
    if (tolerated && tolerated(one)) continue;
    return tl::unexpected(base::Error{base::ErrorKind::kDifference,
                                      fmt::format("{}/{}", name, evidence::kChecksumsFile),
                                      "does not agree with the folder: " + one.file + " " + one.what,
                                      "nothing is derived from evidence that was changed"});
  }
  auto runs = evidence::read_runs(input.folder());
  if (!runs) return tl::unexpected(runs.error());
  if (runs->empty()) return base::usage_error(name, "no finished run in it: nothing to derive");
  input.runs = std::move(*runs);
  return input;
}

void tell_unfinished(const EvidenceInput& input, const std::string& what) {
  if (input.finished) return;
  std::error_code error;
  const bool resumable = std::filesystem::exists(input.folder() / evidence::kPlanFile, error);
  tell(fmt::format("rollcall: {}: the experiment is unfinished: {} its {} finished runs; {}", input.name,
                   what, input.runs.size(),
                   resumable ? "go on with: rollcall run --resume --out " + input.name
                             : "an import that was interrupted is done again into another folder"));
}

}  // namespace rollcall::cli
