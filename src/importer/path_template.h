// How path names carry what a log is of: '{arm}-{topology}-run{run}/cache_{cache}.log'.
// A template is a relative path in which variables stand for parts of names; it is
// matched name by name, so that a tree is walked only where it can lead to a log.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rollcall::importer {

enum class Variable { kArm, kTopology, kRun, kCache, kWorker };
inline constexpr size_t kVariables = 5;
std::string_view to_text(Variable value);

// The text that stood for each variable.
class Bindings {
 public:
  [[nodiscard]] const std::optional<std::string>& of(Variable variable) const {
    return texts_[static_cast<size_t>(variable)];
  }
  std::optional<std::string>& of(Variable variable) { return texts_[static_cast<size_t>(variable)]; }
  friend bool operator==(const Bindings&, const Bindings&) = default;

 private:
  std::array<std::optional<std::string>, kVariables> texts_;
};

class PathTemplate {
 public:
  static constexpr size_t kMaxBytes = 4096;  // PATH_MAX
  static constexpr size_t kMaxNames = 16;    // folders deep, and the file

  // `option` names it in errors, which say at which character. Wrong are: an unknown
  // variable, a brace without its other one, two variables with nothing between them, an
  // absolute path, and "." or ".." as a name. {{ and }} stand for the braces themselves.
  static base::Result<PathTemplate> parse(std::string_view text, const std::string& option);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool uses(Variable variable) const;
  [[nodiscard]] size_t names() const { return names_.size(); }

  // Whether `name` can stand at `index`, with what is bound already; `bindings` gets what
  // it binds. Ambiguous: it can be read in more than one way, so it is not read at all.
  enum class Match { kNo, kYes, kAmbiguous };
  Match match(size_t index, std::string_view name, Bindings& bindings) const;

  // The path in which every variable that it uses is replaced; all of them must be bound.
  [[nodiscard]] std::string fill(const Bindings& bindings) const;
  // A path that would match.
  [[nodiscard]] std::string example() const;

 private:
  struct Part {
    std::optional<Variable> variable;  // unset: the literal
    std::string literal;
  };
  using Name = std::vector<Part>;
  class Matcher;

  std::string text_;
  std::vector<Name> names_;
};

}  // namespace rollcall::importer
