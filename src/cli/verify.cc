// rollcall verify: whether evidence is what was sealed, and says what follows from it.
#include "verify/verify.h"

#include <fmt/format.h>

#include <memory>

#include "archive/archive.h"
#include "cli/command.h"

namespace rollcall::cli {
namespace {

struct VerifyOptions {
  std::string evidence;
  bool json = false;
};

int verify_one(const VerifyOptions& options) {
  const auto opened = archive::OpenedEvidence::open(options.evidence);
  if (!opened) return report_error(opened.error());
  const auto verification = verify::verify_folder(opened->folder());
  if (!verification) return report_error(verification.error());
  fmt::print("{}", options.json ? verify::verification_json(*verification, options.evidence)
                                : verify::verification_text(*verification, options.evidence));
  if (std::fflush(stdout) != 0) {
    return report_error({base::ErrorKind::kFailure, "standard output", "cannot write", ""});
  }
  return verification->holds() ? kDone : kDifference;
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Check evidence against its checksums and its plan, and derive its tables again.");
  command->add_option("evidence", options->evidence, "Evidence folder, or an archive of one")
      ->required()
      ->option_text("EVIDENCE|ARCHIVE");
  command->add_flag("--json", options->json, "Print the result as JSON");
  return [options] { return verify_one(*options); };
}

}  // namespace rollcall::cli
