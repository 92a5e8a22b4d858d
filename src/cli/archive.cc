// rollcall archive: an evidence folder as one file, the same bytes wherever it is packed.
#include "archive/archive.h"

#include <fmt/format.h>

#include <memory>

#include "cli/command.h"

namespace rollcall::cli {
namespace {

struct ArchiveOptions {
  std::string evidence;
  std::string out;
};

int archive_one(const ArchiveOptions& options) {
  const auto packed = archive::pack(options.evidence, options.out);
  if (!packed) return report_error(packed.error());
  // The line of sha256sum(1), so that it can be kept beside the file and checked.
  fmt::print("{}  {}\n", packed->sha256, options.out);
  if (std::fflush(stdout) != 0) {
    return report_error(
        {base::ErrorKind::kFailure, "standard output", "cannot write", "the archive is " + options.out});
  }
  tell(fmt::format("rollcall: {} files, {} bytes; unpacks into {}/", packed->files, packed->size_bytes,
                   packed->folder));
  return kDone;
}

}  // namespace

Action add_archive(CLI::App& app) {
  auto options = std::make_shared<ArchiveOptions>();
  CLI::App* command = app.add_subcommand(
      "archive", "Pack finished evidence into one file; the same evidence gives the same bytes.");
  command->add_option("evidence", options->evidence, "Evidence folder")->required()->option_text("EVIDENCE");
  command->add_option("--out", options->out, "The archive, a new file")
      ->required()
      ->option_text("FILE.tar.zst");
  return [options] { return archive_one(*options); };
}

}  // namespace rollcall::cli
