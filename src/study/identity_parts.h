// What the identity sources have in common; for them and their factory alone.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "base/fd.h"
#include "study/identity_source.h"

namespace rollcall::study {

std::unique_ptr<IdentitySource> make_rollcall_source(const IdentityFiles& files);
std::unique_ptr<IdentitySource> make_hami_source(const IdentityFiles& files);
base::Result<std::unique_ptr<IdentitySource>> make_log_source(const LogPatterns& patterns,
                                                              const IdentityFiles& files,
                                                              const std::string& where);

// A file that others are writing. Read with pread, never mapped: one that a shim
// truncates under us would kill the launcher.
class RegionFile {
 public:
  // Otherwise "region_missing" or "region_unreadable".
  static tl::expected<RegionFile, const char*> open(const std::filesystem::path& path);

  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }  // when it was opened
  [[nodiscard]] bool read_at(void* buffer, size_t size, uint64_t offset) const;

 private:
  RegionFile(base::Fd fd, uint64_t size_bytes) : fd_(std::move(fd)), size_bytes_(size_bytes) {}

  base::Fd fd_;
  uint64_t size_bytes_;
};

// The file of a worker's cache; an empty path, which cannot be opened, if there is none.
std::filesystem::path file_of(const std::vector<std::filesystem::path>& files,
                              const evidence::WorkerRecord& worker);

// The worker's own getpid(), under which a shim knows it. Unset where its NSpid
// could not be read: its PID in another namespace may be somebody else's in its own.
std::optional<int64_t> own_pid(const evidence::WorkerRecord& worker);

evidence::Discovery make_discovery(const char* source, evidence::DiscoveryState state, std::string reason);

}  // namespace rollcall::study
