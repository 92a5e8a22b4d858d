// The library behind this keeps the last of two equal keys and reports malformed
// text by exception; both end here, at the border of the room.
#include "evidence/json_object.h"

#include <fmt/format.h>

#include <cmath>

#include "evidence/limits.h"

namespace rollcall::evidence {
namespace {

constexpr size_t kShownBytes = 60;  // of a wrong value, so that the error stays a line

std::string cut(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  // Never inside a character: its further bytes are 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string shown(const Json& value) {
  std::string text = dump(value, -1);
  return text.size() > kShownBytes ? cut(std::move(text), kShownBytes) + "…" : text;
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: REASON; last read: …" → REASON.
// The rest repeats raw bytes of the input, and a column without our line.
std::string reason_of(const nlohmann::json::exception& error) {
  std::string_view text = error.what();
  if (const size_t at = text.find("] "); at != std::string_view::npos) text.remove_prefix(at + 2);
  if (const size_t at = text.find(": "); at != std::string_view::npos) text.remove_prefix(at + 2);
  return std::string(text.substr(0, text.find("; last read")));
}

}  // namespace

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string clean_text(std::string_view text) {
  // Cut before as well as after: replacing makes text longer, and there is no
  // need to look at more than can be kept.
  const Json raw(std::string(text.substr(0, kMaxTextBytes + 1)));
  return cut(Json::parse(dump(raw, -1)).get<std::string>(), kMaxTextBytes);
}

base::Result<Json> parse_json(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> open_objects;
  std::optional<std::string> repeated;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open_objects.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_objects.pop_back();
    } else if (event == Json::parse_event_t::key &&
               !open_objects.back().insert(parsed.get<std::string>()).second && !repeated) {
      repeated = shown(parsed);
    }
    return true;
  };
  try {
    Json json = Json::parse(text, watch);
    if (repeated) return base::usage_error(where, fmt::format("the key {} is there twice", *repeated));
    return json;
  } catch (const Json::parse_error& error) {
    return base::usage_error(where,
                             fmt::format("not valid JSON at byte {}: {}", error.byte, reason_of(error)));
  } catch (const Json::exception& error) {
    return base::usage_error(where, fmt::format("not valid JSON: {}", reason_of(error)));
  }
}

ObjectReader::ObjectReader(const Json& object, std::string where, std::string path)
    : object_(object), where_(std::move(where)), path_(std::move(path)) {
  if (!object_.is_object()) {
    const std::string name = path_.empty() ? "this" : "\"" + path_.substr(0, path_.size() - 1) + "\"";
    error_ = base::Error{base::ErrorKind::kUsage,
                         where_,
                         fmt::format("expected {} to be an object, found {}", name, shown(object_)),
                         {}};
  }
}

void ObjectReader::fail(const char* key, const std::string& expected, const Json& found) {
  if (error_) return;
  error_ = base::Error{base::ErrorKind::kUsage,
                       where_,
                       fmt::format("key \"{}{}\": expected {}, found {}", path_, key, expected, shown(found)),
                       {}};
}

bool ObjectReader::has(const char* key) {
  known_.insert(key);
  return !error_ && object_.contains(key);
}

const Json* ObjectReader::member(const char* key) {
  if (has(key)) return &object_.at(key);
  if (!error_) {
    error_ = base::Error{
        base::ErrorKind::kUsage, where_, fmt::format("the key \"{}{}\" is missing", path_, key), {}};
  }
  return nullptr;
}

bool ObjectReader::boolean(const char* key) {
  const Json* value = member(key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) {
    fail(key, "true or false", *value);
    return false;
  }
  return value->get<bool>();
}

std::string ObjectReader::text(const char* key) {
  const Json* value = member(key);
  if (value == nullptr) return {};
  if (!value->is_string() || value->get_ref<const std::string&>().size() > kMaxTextBytes) {
    fail(key, fmt::format("a text of at most {} bytes", kMaxTextBytes), *value);
    return {};
  }
  return value->get<std::string>();
}

namespace {

// A number written as an integer that fits; 1.0 and 1e3 are not.
std::optional<int64_t> integer_in(const Json& value, Range range) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  const auto number = value.get<int64_t>();
  if (number < range.min || number > range.max) return std::nullopt;
  return number;
}

std::string integer_expected(Range range) {
  return fmt::format("an integer from {} to {}", range.min, range.max);
}

}  // namespace

int64_t ObjectReader::integer(const char* key, Range range) {
  const Json* value = member(key);
  if (value == nullptr) return 0;
  const auto number = integer_in(*value, range);
  if (!number) fail(key, integer_expected(range), *value);
  return number.value_or(0);
}

uint64_t ObjectReader::unsigned_integer(const char* key) {
  const Json* value = member(key);
  if (value == nullptr) return 0;
  if (!value->is_number_unsigned()) {
    fail(key, "an integer of at least 0", *value);
    return 0;
  }
  return value->get<uint64_t>();
}

const Json* ObjectReader::array(const char* key, size_t max_count) {
  const Json* value = member(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    fail(key, "a list", *value);
    return nullptr;
  }
  if (value->size() > max_count) {
    fail(key, fmt::format("a list of at most {}", max_count), Json(value->size()));
    return nullptr;
  }
  return value;
}

std::vector<std::string> ObjectReader::texts(const char* key, size_t max_count) {
  std::vector<std::string> result;
  const Json* list = array(key, max_count);
  if (list == nullptr) return result;
  for (const Json& element : *list) {
    if (!element.is_string() || element.get_ref<const std::string&>().size() > kMaxTextBytes) {
      fail(key, "a list of texts", element);
      return {};
    }
    result.push_back(element.get<std::string>());
  }
  return result;
}

std::vector<int64_t> ObjectReader::integers(const char* key, size_t max_count, Range range) {
  std::vector<int64_t> result;
  const Json* list = array(key, max_count);
  if (list == nullptr) return result;
  for (const Json& element : *list) {
    const auto number = integer_in(element, range);
    if (!number) {
      fail(key, integer_expected(range), element);
      return {};
    }
    result.push_back(*number);
  }
  return result;
}

std::optional<bool> ObjectReader::optional_boolean(const char* key) {
  if (!has(key)) return std::nullopt;
  return boolean(key);
}

std::optional<int64_t> ObjectReader::optional_integer(const char* key, Range range) {
  if (!has(key)) return std::nullopt;
  return integer(key, range);
}

std::optional<int> ObjectReader::optional_int(const char* key) {
  const auto number =
      optional_integer(key, {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()});
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<uint64_t> ObjectReader::optional_unsigned(const char* key) {
  if (!has(key)) return std::nullopt;
  return unsigned_integer(key);
}

std::optional<double> ObjectReader::optional_positive_number(const char* key) {
  if (!has(key)) return std::nullopt;
  const Json& value = object_.at(key);
  if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
    fail(key, "a number greater than 0", value);
    return std::nullopt;
  }
  return value.get<double>();
}

base::Result<void> ObjectReader::done() const {
  if (error_) return tl::unexpected<base::Error>(*error_);
  for (const auto& [key, value] : object_.items()) {
    if (!known_.contains(key)) {
      return base::usage_error(where_, fmt::format("the key {} is not known here", shown(Json(path_ + key))),
                               "it may come from a newer version: read it with that one");
    }
  }
  return {};
}

}  // namespace rollcall::evidence
