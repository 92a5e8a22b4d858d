// Strict reading of JSON objects, and text made safe for writing. A record that
// is read loosely can say something else than it said when it was written, so
// every key must be known, present once, of the right type and in range.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"

namespace rollcall::evidence {

using Json = nlohmann::ordered_json;

// `text` cut to kMaxTextBytes and with U+FFFD for what is not UTF-8: records
// carry words of crashed programs and paths of foreign machines.
std::string clean_text(std::string_view text);

// One JSON document as text, never failing whatever its strings hold.
std::string dump(const Json& json, int indent);

// Parses a document; malformed JSON, bytes that are not UTF-8 and an object
// with the same key twice are usage errors that name `where`.
base::Result<Json> parse_json(std::string_view text, const std::string& where);

struct Range {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};

// Takes the members of one object one by one. The first thing wrong is kept and
// later calls return empty values, so that a caller reads all its members in
// a row and asks once, at the end, with done().
class ObjectReader {
 public:
  // `where` names the file and line, `path` the object in it ("discovery.").
  // The object must outlive the reader.
  ObjectReader(const Json& object, std::string where, std::string path = {});

  bool boolean(const char* key);
  std::string text(const char* key);
  int64_t integer(const char* key, Range range = {});
  uint64_t unsigned_integer(const char* key);
  template <typename Enum>
  Enum word(const char* key) {
    const std::string value = text(key);
    const auto found = from_text<Enum>(value);
    if (!found) fail(key, "one of its known words", Json(value));
    return found.value_or(Enum{});
  }
  std::vector<std::string> texts(const char* key, size_t max_count);
  std::vector<int64_t> integers(const char* key, size_t max_count, Range range);
  // The members of an array, or null after a failure.
  const Json* array(const char* key, size_t max_count);
  const Json* member(const char* key);
  [[nodiscard]] bool has(const char* key);

  std::optional<bool> optional_boolean(const char* key);
  std::optional<int64_t> optional_integer(const char* key, Range range = {});
  std::optional<int> optional_int(const char* key);
  std::optional<uint64_t> optional_unsigned(const char* key);
  std::optional<double> optional_positive_number(const char* key);

  void fail(const char* key, const std::string& expected, const Json& found);
  // The first failure, or an error for a key that was never asked for.
  base::Result<void> done() const;

 private:
  const Json& object_;
  std::string where_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
  std::optional<base::Error> error_;
};

}  // namespace rollcall::evidence
