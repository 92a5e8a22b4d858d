// The evidence folder: its layout, how it comes to be without ever showing a
// half-written file under a final name, and how it is read back.
//
//   plan.json  environment.json  [environment-resumed-<n>.json]
//   import.json                   imported logs only, which have no plan and no environment
//   runs/<id>/run.json  workers.jsonl  logs/cache_<k>.log  regions/cache_<k>.region.zst  [truth.csv]
//   derived/*.csv
//   SHA256SUMS                    written last; a folder without it is unfinished
//   unfinished/<id>.<attempt>/    runs in progress; one that was interrupted stays here
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "evidence/seal.h"

namespace rollcall::evidence {

// The SHA-256 of a file that this process wrote, with what tells whether the file is still
// the one that was written.
struct KnownSum {
  std::string sha256;
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const KnownSum&, const KnownSum&) = default;
};
// By device and inode: a file keeps those when the folder above it is renamed.
using KnownSums = std::map<std::pair<uint64_t, uint64_t>, KnownSum>;

// What was read of a file while it was copied.
struct Copied {
  uint64_t bytes = 0;
  bool changed = false;  // it was written to meanwhile; the copy is what was read
};
// Gets the bytes of a file, in order and in pieces.
using Listener = std::function<void(std::string_view bytes)>;

// Reads a regular file once, to the size that it has when it is opened, and lets `listener`
// have it. A symbolic link is not followed, and nothing else is waited for.
base::Result<Copied> read_through(const std::filesystem::path& source, uint64_t max_bytes,
                                  const Listener& listener);

// A folder that this process writes. It holds a lock on the directory, so that
// two launchers never write one experiment. Move only; not thread-safe.
class FolderWriter {
 public:
  // Whether create() could make it: asked before work whose result it would hold.
  static base::Result<void> check_new(const std::filesystem::path& path);

  // Makes the folder, with missing parents; an existing path is a usage error.
  static base::Result<FolderWriter> create(const std::filesystem::path& path);

  // Opens an experiment again. A usage error if it is not one (no plan.json),
  // or another launcher is writing it.
  static base::Result<FolderWriter> resume(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // SHA256SUMS is there: nothing is left to do, and nothing may be written.
  [[nodiscard]] bool finished() const;
  [[nodiscard]] bool has_run(const std::string& run_id) const;

  // A new file at the top of the folder or in derived/; never over an existing
  // one. One that already says exactly this is left as it is, so that an end
  // that was interrupted between its files can be done again.
  base::Result<void> write(const std::filesystem::path& relative, std::string_view content);

  // A fresh working folder for a run, with empty logs/ and regions/. Every call
  // gives a new attempt number.
  base::Result<std::filesystem::path> begin_run(const std::string& run_id);
  // Copies a file into the working folder, reading it once: what is copied, what the
  // checksum is of and what the listener gets are the same bytes.
  base::Result<Copied> copy_into_run(const std::filesystem::path& source,
                                     const std::filesystem::path& working,
                                     const std::filesystem::path& relative, uint64_t max_bytes,
                                     const Listener& listener);
  // Writes a new file of the working folder. For what was made from files that are still
  // there: like their copies, it is not flushed.
  base::Result<void> put_into_run(std::string_view content, const std::filesystem::path& working,
                                  const std::filesystem::path& relative);

  // Writes run.json and workers.jsonl into the working folder, flushes it and
  // renames it to runs/<id>.
  base::Result<void> commit_run(const std::filesystem::path& working, const Run& run);

  // Removes unfinished/ if it is empty and writes SHA256SUMS by rename.
  base::Result<void> finish();

 private:
  FolderWriter(std::filesystem::path path, base::Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  base::Fd lock_;
  KnownSums known_;  // of what copy_into_run and put_into_run wrote
};

// All committed runs of an evidence folder, in the order of their numbers. An
// error names the file and line. The folder may be unfinished.
base::Result<std::vector<Run>> read_runs(const std::filesystem::path& folder);

// The lines of SHA256SUMS for what is in `folder` now: every regular file but
// SHA256SUMS itself, by path in byte order, in the format of sha256sum(1).
// A file of `known` that is still what it was is not read again.
base::Result<std::string> checksum_lines(const std::filesystem::path& folder, const KnownSums& known = {});

}  // namespace rollcall::evidence
