// Any shim that writes its discovery into its log, read by the regular
// expressions of its arm. RE2, because its time is linear in the line whatever the
// expression, and because it cannot be made to run out of stack by either.
#include <fmt/format.h>
#include <re2/re2.h>

#include <charconv>
#include <memory>
#include <vector>

#include "study/identity_parts.h"
#include "study/log_follower.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

constexpr const char* kSource = "log";
// More than anybody writes by hand; the time to compile grows with it.
constexpr size_t kMaxPatternBytes = 4096;

// A positive decimal number that fits, and nothing else.
std::optional<int64_t> parse_pid(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

// One expression with the places of its groups.
class Pattern {
 public:
  static base::Result<Pattern> compile(const std::string& text, const char* name,
                                       const std::vector<const char*>& groups, const std::string& where) {
    if (text.size() > kMaxPatternBytes) {
      return base::usage_error(where, fmt::format("'{}' is longer than {} bytes", name, kMaxPatternBytes));
    }
    RE2::Options options;
    options.set_log_errors(false);
    // A log may hold any bytes; each of them is a character.
    options.set_encoding(RE2::Options::EncodingLatin1);
    Pattern pattern;
    pattern.expression_ = std::make_unique<RE2>(text, options);
    const std::string label = std::string("'") + name + "'";
    if (!pattern.expression_->ok()) {
      return base::usage_error(where, label + " is not a regular expression: " + pattern.expression_->error(),
                               "write it in the syntax of RE2");
    }
    for (const char* group : groups) {
      const std::string quoted = std::string("'") + group + "'";
      std::vector<int> places;  // RE2 lets a name be given twice
      for (const auto& [place, called] : pattern.expression_->CapturingGroupNames()) {
        if (called == group) places.push_back(place);
      }
      if (places.empty()) {
        return base::usage_error(where, label + " has no group named " + quoted,
                                 std::string("put (?P<") + group + ">[0-9]+) where the number stands");
      }
      if (places.size() > 1) {
        return base::usage_error(where, label + " has more than one group named " + quoted,
                                 "name only the one that counts");
      }
      pattern.groups_.push_back(places.front());
    }
    return pattern;
  }

  // Of a whole line only: where two writers mix theirs, a part of it could be read as a
  // statement that nobody made. The texts of the groups, in the order in which they were asked for.
  [[nodiscard]] std::optional<std::vector<std::string_view>> search(std::string_view line) const {
    const re2::StringPiece text(line.data(), line.size());
    // Nearly every line is somebody's chatter; it costs no allocation.
    if (!expression_->Match(text, 0, text.size(), RE2::ANCHOR_BOTH, nullptr, 0)) return std::nullopt;
    std::vector<re2::StringPiece> found(static_cast<size_t>(expression_->NumberOfCapturingGroups()) + 1);
    if (!expression_->Match(text, 0, text.size(), RE2::ANCHOR_BOTH, found.data(),
                            static_cast<int>(found.size()))) {
      return std::nullopt;
    }
    std::vector<std::string_view> texts;
    for (const int group : groups_) {
      const re2::StringPiece& piece = found[static_cast<size_t>(group)];
      texts.emplace_back(piece.data(), piece.size());
    }
    return texts;
  }

 private:
  std::unique_ptr<RE2> expression_;
  std::vector<int> groups_;
};

struct CompiledPatterns {
  Pattern assigned;
  std::optional<Pattern> failed;

  static base::Result<CompiledPatterns> compile(const LogPatterns& patterns, const std::string& where) {
    auto assigned = Pattern::compile(patterns.assigned, "log_assigned", {"own", "assigned"}, where);
    if (!assigned) return tl::unexpected(assigned.error());
    CompiledPatterns compiled{std::move(*assigned), std::nullopt};
    if (!patterns.failed.empty()) {
      auto failed = Pattern::compile(patterns.failed, "log_failed", {"own"}, where);
      if (!failed) return tl::unexpected(failed.error());
      compiled.failed = std::move(*failed);
    }
    return compiled;
  }

  // A line that says both, or a number that is none, is unclear: to pass it over
  // would let an earlier statement stand as the last.
  [[nodiscard]] std::optional<Heard> interpret(std::string_view line) const {
    const auto success = assigned.search(line);
    const auto failure = failed ? failed->search(line) : std::nullopt;
    if (!success && !failure) return std::nullopt;
    const auto own = parse_pid(success ? success->front() : failure->front());
    if (!own) return std::nullopt;
    Heard heard{*own, {}};
    if (success && failure) return heard;
    if (failure) {
      heard.statement.says = Statement::Says::kFailed;
      heard.statement.reason = "said_so_in_log";
    } else if (const auto pid = parse_pid((*success)[1])) {
      heard.statement.says = Statement::Says::kAssigned;
      heard.statement.assigned_pid = *pid;
    }
    return heard;
  }
};

Discovery no_evidence(const char* reason) {
  return make_discovery(kSource, DiscoveryState::kNoEvidence, reason);
}

const char* fault_of(LogFollower::State state) {
  switch (state) {
    case LogFollower::State::kWhole:
      return nullptr;
    case LogFollower::State::kBehind:
      return "log_too_long";
    case LogFollower::State::kMissing:
      return "log_missing";
    case LogFollower::State::kUnreadable:
      return "log_unreadable";
    case LogFollower::State::kTruncated:
      return "log_truncated";
  }
  return "log_unreadable";
}

Discovery from_statement(const Statement& statement) {
  Discovery discovery = no_evidence("");
  switch (statement.says) {
    case Statement::Says::kAssigned:
      discovery.state = DiscoveryState::kAssigned;
      discovery.assigned_pid = statement.assigned_pid;
      return discovery;
    case Statement::Says::kFailed:
      discovery.state = DiscoveryState::kFailed;
      discovery.reason = statement.reason;
      return discovery;
    case Statement::Says::kUnclear:
      break;
  }
  discovery.reason = "unclear_in_log";
  return discovery;
}

class LogSource : public IdentitySource {
 public:
  LogSource(CompiledPatterns patterns, const std::vector<std::filesystem::path>& logs)
      : patterns_(std::make_shared<const CompiledPatterns>(std::move(patterns))) {
    for (const auto& log : logs) {
      logs_.emplace_back(log,
                         [patterns = patterns_](std::string_view line) { return patterns->interpret(line); });
    }
  }

  Discovery read(const evidence::WorkerRecord& worker) override {
    const auto pid = own_pid(worker);
    if (!pid) return no_evidence("worker_not_observed");
    const auto cache = static_cast<size_t>(worker.cache);
    if (cache >= logs_.size()) return no_evidence("log_missing");
    LogFollower& log = logs_[cache];
    if (const char* fault = fault_of(log.follow())) return no_evidence(fault);
    const Statement* statement = log.last_of(*pid);
    if (statement != nullptr) return from_statement(*statement);
    return no_evidence(log.has_forgotten() ? "log_too_many_pids" : "not_in_log");
  }

 private:
  std::shared_ptr<const CompiledPatterns> patterns_;
  std::vector<LogFollower> logs_;
};

}  // namespace

base::Result<void> check_log_patterns(const LogPatterns& patterns, const std::string& where) {
  const auto compiled = CompiledPatterns::compile(patterns, where);
  if (!compiled) return tl::unexpected(compiled.error());
  return {};
}

base::Result<std::unique_ptr<IdentitySource>> make_log_source(const LogPatterns& patterns,
                                                              const IdentityFiles& files,
                                                              const std::string& where) {
  auto compiled = CompiledPatterns::compile(patterns, where);
  if (!compiled) return tl::unexpected(compiled.error());
  return std::make_unique<LogSource>(std::move(*compiled), files.logs);
}

}  // namespace rollcall::study
