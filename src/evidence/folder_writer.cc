// Writing an evidence folder. Everything appears by rename, and nothing that
// exists is written over; what an interrupted launcher left in unfinished/
// stays there as evidence of the interruption.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "base/files.h"
#include "evidence/file_stamp.h"
#include "evidence/folder.h"
#include "evidence/folder_lock.h"
#include "evidence/layout.h"
#include "evidence/limits.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  return type != fs::file_type::not_found && type != fs::file_type::none;
}

base::Result<void> make_if_missing(const fs::path& path) {
  if (is_there(path)) return {};
  return base::make_new_directory(path);
}

base::Result<void> make_skeleton(const fs::path& path) {
  if (auto made = make_if_missing(path / kRunsFolder); !made) return made;
  return make_if_missing(path / kUnfinishedFolder);
}

tl::unexpected<base::Error> already_there(const fs::path& path) {
  return base::usage_error(path.string(), "the folder for the evidence exists",
                           "choose another --out, or add --resume to continue an interrupted experiment");
}

// "a/b/" becomes "a/b", so that the parent is what one expects. Nothing else is
// resolved: behind a symbolic link ".." means what the kernel takes it to mean.
fs::path tidy(const fs::path& path) {
  fs::path result = path;
  while (!result.has_filename() && result.has_relative_path()) result = result.parent_path();
  return result;
}

base::Result<void> flush_file(const fs::path& path) {
  const base::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return base::system_failure(path.string(), "open", errno);
  if (fsync(fd.get()) != 0) return base::system_failure(path.string(), "flush", errno);
  return {};
}

bool is_copy(const fs::path& path, const KnownSums& copies) {
  if (copies.empty()) return false;
  const auto stamped = stamp_of(path);
  return stamped && copies.contains(stamped->first);
}

// Flushes all that is in a folder, then the folder itself. Logs were written
// by the workers, so nobody has flushed them yet. Copies are left to the system: what they
// were made from is still there, SHA256SUMS would show a loss, and to wait for gigabytes to
// reach the disk would take longer than to make them again.
base::Result<void> flush_tree(const fs::path& folder, const KnownSums& copies) {
  std::error_code error;
  auto walk = fs::directory_iterator(folder, error);
  for (; !error && walk != fs::directory_iterator(); walk.increment(error)) {
    const fs::file_status status = walk->symlink_status(error);
    if (error) break;
    base::Result<void> flushed;
    if (fs::is_directory(status)) flushed = flush_tree(walk->path(), copies);
    if (fs::is_regular_file(status) && !is_copy(walk->path(), copies)) flushed = flush_file(walk->path());
    if (!flushed) return flushed;
  }
  if (error) return base::system_failure(folder.string(), "list the folder", error.value());
  return base::sync_directory(folder);
}

base::Result<void> check_run_id(const std::string& run_id) {
  if (is_plain_name(run_id)) return {};
  return base::usage_error(fmt::format("run '{}'", run_id), "this cannot be the name of a folder",
                           "name the arm with letters, digits, '.', '_' and '-'");
}

tl::unexpected<base::Error> is_finished(const fs::path& path) {
  return base::failure(path.string(), fmt::format("the experiment is finished ({} is there)", kChecksumsFile),
                       "nothing can be added to it: start a new one in another folder");
}

}  // namespace

base::Result<void> FolderWriter::check_new(const fs::path& wanted) {
  const fs::path path = tidy(wanted);
  if (!path.empty() && is_there(path)) return already_there(path);
  return {};
}

base::Result<FolderWriter> FolderWriter::create(const fs::path& wanted) {
  const fs::path path = tidy(wanted);
  if (path.empty()) return base::usage_error("--out", "expected the name of a folder, found nothing");
  if (is_there(path)) return already_there(path);
  if (path.has_parent_path()) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return base::system_failure(path.parent_path().string(), "make the folder", error.value(),
                                  "choose a folder that you may write to");
    }
  }
  if (auto made = base::make_new_directory(path); !made) {
    // Somebody else may have been faster.
    if (is_there(path)) return already_there(path);
    return tl::unexpected<base::Error>(made.error());
  }
  auto lock = lock_folder(path);
  if (!lock) return tl::unexpected<base::Error>(lock.error());
  if (auto made = make_skeleton(path); !made) {
    // An empty folder of our own holds no evidence; left there it would only
    // stand in the way of the next attempt.
    rmdir((path / kRunsFolder).c_str());
    rmdir(path.c_str());
    return tl::unexpected<base::Error>(made.error());
  }
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (auto synced = base::sync_directory(parent); !synced) return tl::unexpected<base::Error>(synced.error());
  return FolderWriter(path, std::move(*lock));
}

base::Result<FolderWriter> FolderWriter::resume(const fs::path& wanted) {
  const fs::path path = tidy(wanted);
  if (!is_there(path)) {
    return base::usage_error(path.string(), "there is no such folder",
                             "start the experiment without --resume");
  }
  if (!is_there(path / kPlanFile)) {
    return base::usage_error(path.string(), fmt::format("this is no experiment: it has no {}", kPlanFile),
                             "start a new one in another folder, without --resume");
  }
  auto lock = lock_folder(path);
  if (!lock) return tl::unexpected<base::Error>(lock.error());
  FolderWriter writer(path, std::move(*lock));
  if (!writer.finished()) {
    if (auto made = make_skeleton(path); !made) return tl::unexpected<base::Error>(made.error());
  }
  return writer;
}

bool FolderWriter::finished() const {
  return is_there(path_ / kChecksumsFile);
}

bool FolderWriter::has_run(const std::string& run_id) const {
  return is_plain_name(run_id) && is_there(path_ / kRunsFolder / run_id);
}

base::Result<void> FolderWriter::write(const fs::path& relative, std::string_view content) {
  const fs::path folder = relative.parent_path();
  const std::string name = relative.filename().string();
  if ((!folder.empty() && folder != kDerivedFolder) || !is_plain_name(name) || name == kChecksumsFile) {
    return base::failure(relative.string(),
                         fmt::format("expected a file name, alone or after {}/", kDerivedFolder));
  }
  if (finished()) return is_finished(path_);
  if (!folder.empty()) {
    if (auto made = make_if_missing(path_ / folder); !made) return made;
  }
  const fs::path file = path_ / relative;
  if (is_there(file)) {
    // What an interrupted launcher wrote last is written once more by the next.
    const auto present = base::read_file(file, content.size());
    if (present && *present == content) return {};
    return base::failure(file.string(), "the file exists and says something else",
                         "nothing is overwritten: start a new experiment in another folder");
  }
  return base::write_new_file(file, content);
}

base::Result<fs::path> FolderWriter::begin_run(const std::string& run_id) {
  if (auto good = check_run_id(run_id); !good) return tl::unexpected<base::Error>(good.error());
  if (finished()) return is_finished(path_);
  if (has_run(run_id)) {
    return base::failure((path_ / kRunsFolder / run_id).string(), "this run is done already");
  }
  for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
    const fs::path working = path_ / kUnfinishedFolder / fmt::format("{}.{}", run_id, attempt);
    if (is_there(working)) continue;
    for (const fs::path& folder : {working, working / kLogsFolder, working / kRegionsFolder}) {
      if (auto made = base::make_new_directory(folder); !made)
        return tl::unexpected<base::Error>(made.error());
    }
    return working;
  }
  return base::failure((path_ / kUnfinishedFolder).string(),
                       fmt::format("run {} has been begun {} times and never ended", run_id, kMaxAttempts),
                       "find out what interrupts it");
}

base::Result<void> FolderWriter::commit_run(const fs::path& working, const Run& run) {
  const std::string id = run.record.id();
  if (auto good = check_run_id(id); !good) return good;
  if (finished()) return is_finished(path_);
  if (working.parent_path() != path_ / kUnfinishedFolder ||
      !working.filename().string().starts_with(id + ".")) {
    return base::failure(working.string(), fmt::format("expected a working folder of run {}", id));
  }
  std::string lines;
  for (const WorkerRecord& worker : run.workers) lines += print_worker(worker) + "\n";
  const std::string record = print_run(run.record);
  if (record.size() > kMaxRunFileBytes || lines.size() > kMaxWorkersFileBytes) {
    return base::failure(working.string(), "the records of this run are larger than could be read back");
  }
  if (auto wrote = base::write_new_file(working / kRunFile, record); !wrote) return wrote;
  if (auto wrote = base::write_new_file(working / kWorkersFile, lines); !wrote) return wrote;
  if (auto flushed = flush_tree(working, known_); !flushed) return flushed;
  if (auto renamed = base::rename_new(working, path_ / kRunsFolder / id); !renamed) return renamed;
  if (auto synced = base::sync_directory(path_ / kRunsFolder); !synced) return synced;
  return base::sync_directory(path_ / kUnfinishedFolder);
}

base::Result<void> FolderWriter::finish() {
  if (finished()) return is_finished(path_);
  const fs::path unfinished = path_ / kUnfinishedFolder;
  if (rmdir(unfinished.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT) {
    return base::system_failure(unfinished.string(), "remove the empty folder", errno);
  }
  const auto lines = checksum_lines(path_, known_);
  if (!lines) return tl::unexpected<base::Error>(lines.error());
  return base::write_new_file(path_ / kChecksumsFile, *lines);
}

}  // namespace rollcall::evidence
