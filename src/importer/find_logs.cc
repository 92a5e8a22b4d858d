// See find_logs.h.
#include "importer/find_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "evidence/json_object.h"

namespace rollcall::importer {
namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  Walk(const fs::path& folder, const PathTemplate& layout) : folder_(folder), layout_(layout) {}

  base::Result<void> visit(const fs::path& below, size_t index, const Bindings& bindings) {
    std::vector<fs::path> names;
    std::error_code error;
    auto entries = fs::directory_iterator(folder_ / below, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      names.push_back(entries->path().filename());
      if (++seen_ > kMaxNamesSeen) {
        return base::usage_error(folder_.string(),
                                 fmt::format("more than {} names to look at", kMaxNamesSeen),
                                 "name a folder that holds little else than logs");
      }
    }
    if (error) return unlisted(below, error);
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) {
      Bindings inner = bindings;
      const auto match = layout_.match(index, name.native(), inner);
      if (match == PathTemplate::Match::kNo) {
        if (unlike_.empty()) unlike_ = (below / name).string();
        continue;
      }
      if (match == PathTemplate::Match::kAmbiguous) {
        skip(below / name, "its name can be read in more than one way");
      } else if (auto done = enter(below / name, index, inner); !done) {
        return done;
      }
    }
    return {};
  }

  FoundLogs found;
  [[nodiscard]] const std::string& unlike() const { return unlike_; }

 private:
  base::Result<void> unlisted(const fs::path& below, std::error_code error) {
    if (below.empty()) return base::system_failure(folder_.string(), "list the folder", error.value());
    skip(below, "cannot be listed: " + error.message());
    return {};
  }

  base::Result<void> enter(const fs::path& path, size_t index, const Bindings& bindings) {
    const auto& arm = bindings.of(Variable::kArm);
    if (arm && evidence::clean_text(*arm) != *arm) {
      skip(path, "the arm in its name is not UTF-8");
      return {};
    }
    const bool last = index + 1 == layout_.names();
    std::error_code error;
    const fs::file_type type = fs::symlink_status(folder_ / path, error).type();
    if (type == fs::file_type::symlink) {
      skip(path, "a symbolic link, which is not followed");
    } else if (last && type == fs::file_type::regular) {
      found.logs.push_back({path, bindings});
    } else if (!last && type == fs::file_type::directory) {
      return visit(path, index + 1, bindings);
    } else {
      skip(path, last ? "not a regular file" : "not a folder");
    }
    return {};
  }

  void skip(const fs::path& path, std::string why) {
    found.skipped.push_back({evidence::clean_text(path.string()), std::move(why)});
  }

  const fs::path& folder_;
  const PathTemplate& layout_;
  size_t seen_ = 0;
  std::string unlike_;  // the first name that does not fit, for the error
};

}  // namespace

base::Result<FoundLogs> find_logs(const fs::path& folder, const PathTemplate& layout) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return base::usage_error("--input-dir " + folder.string(), "expected a folder with logs, found none");
  }
  Walk walk(folder, layout);
  if (auto done = walk.visit({}, 0, {}); !done) return tl::unexpected<base::Error>(done.error());
  if (!walk.found.logs.empty()) return std::move(walk.found);
  std::string found = "nothing";
  if (!walk.unlike().empty()) found = fmt::format("'{}'", evidence::clean_text(walk.unlike()));
  if (!walk.found.skipped.empty()) {
    found = fmt::format("'{}' ({})", walk.found.skipped.front().path, walk.found.skipped.front().why);
  }
  return base::usage_error("--input-dir " + folder.string(),
                           fmt::format("no log fits the layout '{}': expected for example '{}', found {}",
                                       layout.text(), layout.example(), found),
                           "say with --layout how the paths are made");
}

}  // namespace rollcall::importer
