// See path_template.h.
#include "importer/path_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "evidence/layout.h"
#include "evidence/topology.h"
#include "importer/decimal.h"

namespace rollcall::importer {
namespace {

constexpr std::array<std::string_view, kVariables> kNames = {"arm", "topology", "run", "cache", "worker"};

// Nine digits fit an int, and nothing that is counted here has more.
constexpr size_t kMaxDigits = 9;
constexpr int64_t kMaxNumber = 999'999'999;

std::optional<Variable> variable_of(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Variable>(found - kNames.begin());
}

bool can_stand_for(Variable variable, std::string_view text) {
  switch (variable) {
    case Variable::kArm:
      return evidence::is_plain_name(text);
    case Variable::kTopology:
      return evidence::Topology::parse(text).has_value();
    case Variable::kRun:
    case Variable::kCache:
    case Variable::kWorker:
      return text.size() <= kMaxDigits && parse_count(text, kMaxNumber).has_value();
  }
  return false;
}

constexpr const char* kAdvice = "a template is like '{arm}-{topology}-run{run}/cache_{cache}.log'";

}  // namespace

std::string_view to_text(Variable value) {
  return kNames[static_cast<size_t>(value)];
}

base::Result<PathTemplate> PathTemplate::parse(std::string_view text, const std::string& option) {
  const auto wrong = [&](size_t at, const std::string& what, const std::string& advice = kAdvice) {
    return base::usage_error(fmt::format("{} '{}'", option, text),
                             fmt::format("character {}: {}", at + 1, what), advice);
  };
  if (text.empty() || text.size() > kMaxBytes) return wrong(0, "expected a path of 1 to 4096 bytes");
  if (text.front() == '/') return wrong(0, "expected a path relative to --input-dir, found an absolute one");
  PathTemplate result;
  result.text_ = text;
  Name name;
  size_t name_at = 0;
  const auto literal = [&name](char c) {
    if (name.empty() || name.back().variable) name.push_back({});
    name.back().literal += c;
  };
  const auto end_name = [&]() -> std::optional<std::string> {
    if (name.empty()) return "expected a name between the slashes";
    const bool plain = name.size() == 1 && !name.front().variable;
    if (plain && (name.front().literal == "." || name.front().literal == ".."))
      return "a path of names is expected, without '" + name.front().literal + "'";
    if (result.names_.size() == kMaxNames) return fmt::format("more than {} names deep", kMaxNames);
    result.names_.push_back(std::move(name));
    name.clear();
    return std::nullopt;
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\0') return wrong(at, "found a NUL byte");
    if (c == '/') {
      if (const auto fault = end_name(); fault) return wrong(name_at, *fault);
      name_at = at + 1;
    } else if ((c == '{' || c == '}') && text.substr(at + 1).starts_with(c)) {
      literal(c);
      ++at;
    } else if (c == '}') {
      return wrong(at, "found a '}' without its '{'");
    } else if (c == '{') {
      const size_t close = text.find('}', at);
      if (close == std::string_view::npos) return wrong(at, "found a '{' without its '}'");
      const std::string word(text.substr(at + 1, close - at - 1));
      const auto variable = variable_of(word);
      if (!variable) {
        return wrong(
            at, fmt::format("unknown variable '{{{}}}'; expected {{{}}}", word, fmt::join(kNames, "}, {")),
            base::did_you_mean(word, {kNames.begin(), kNames.end()}));
      }
      if (!name.empty() && name.back().variable) {
        return wrong(at, "two variables with nothing between them cannot be told apart");
      }
      name.push_back({variable, {}});
      at = close;
    } else {
      literal(c);
    }
  }
  if (const auto fault = end_name(); fault) return wrong(name_at, *fault);
  return result;
}

bool PathTemplate::uses(Variable variable) const {
  return std::any_of(names_.begin(), names_.end(), [variable](const Name& name) {
    return std::any_of(name.begin(), name.end(),
                       [variable](const Part& part) { return part.variable == variable; });
  });
}

// Tries every way to read a name and keeps the first; a second one makes it ambiguous.
class PathTemplate::Matcher {
 public:
  Matcher(const Name& parts, std::string_view name, Bindings bindings)
      : parts_(parts), name_(name), bindings_(std::move(bindings)) {}

  void try_from(size_t part, size_t at) {
    if (part == parts_.size()) {
      if (at != name_.size()) return;
      if (ways == 0) found = bindings_;
      ++ways;
      return;
    }
    const auto& variable = parts_[part].variable;
    if (!variable || bindings_.of(*variable)) {
      const std::string& text = variable ? *bindings_.of(*variable) : parts_[part].literal;
      if (name_.substr(at).starts_with(text)) try_from(part + 1, at + text.size());
      return;
    }
    for (size_t size = 1; at + size <= name_.size() && ways < 2; ++size) {
      const std::string_view text = name_.substr(at, size);
      if (!can_stand_for(*variable, text)) continue;
      bindings_.of(*variable) = text;
      try_from(part + 1, at + size);
      bindings_.of(*variable).reset();
    }
  }

  int ways = 0;
  Bindings found;

 private:
  const Name& parts_;
  std::string_view name_;
  Bindings bindings_;
};

PathTemplate::Match PathTemplate::match(size_t index, std::string_view name, Bindings& bindings) const {
  Matcher matcher(names_[index], name, bindings);
  matcher.try_from(0, 0);
  if (matcher.ways == 0) return Match::kNo;
  if (matcher.ways > 1) return Match::kAmbiguous;
  bindings = std::move(matcher.found);
  return Match::kYes;
}

std::string PathTemplate::fill(const Bindings& bindings) const {
  std::string path;
  for (const Name& name : names_) {
    if (!path.empty()) path += '/';
    for (const Part& part : name)
      path += part.variable ? bindings.of(*part.variable).value_or("") : part.literal;
  }
  return path;
}

std::string PathTemplate::example() const {
  Bindings bindings;
  bindings.of(Variable::kArm) = "hami";
  bindings.of(Variable::kTopology) = "50x5";
  bindings.of(Variable::kRun) = "1";
  bindings.of(Variable::kCache) = "0";
  bindings.of(Variable::kWorker) = "0";
  return fill(bindings);
}

}  // namespace rollcall::importer
