// What a verification found, as text and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "evidence/layout.h"
#include "report/text_table.h"
#include "verify/verify.h"

namespace rollcall::verify {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kMaxNameWidth = 400;  // paths are worth more than the width of a terminal

std::string plural(size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string printable(const std::string& text) {
  return report::printable(text, kMaxNameWidth);
}

}  // namespace

std::string verification_text(const Verification& v, const std::string& name) {
  const std::string shown = printable(name);
  if (!v.finished) {
    return fmt::format(
        "{}: is missing: the experiment is unfinished, or the file was taken away\n"
        "{}: does not hold; resume it: rollcall run --resume --out {} (an import is done again)\n",
        evidence::kChecksumsFile, shown, shown);
  }
  std::string text;
  for (const evidence::Difference& one : v.differences) {
    text += fmt::format("{}: {}\n", printable(one.file), printable(one.what));
  }
  for (const std::string& note : v.notes) text += report::wrapped("note: " + printable(note), 2);
  if (!v.differences.empty()) {
    return text + fmt::format("{}: does not hold: {}\n", shown, plural(v.differences.size(), "difference"));
  }
  text += fmt::format("{}: holds\n", shown);
  text +=
      fmt::format("  {} files, {} bytes, agree with {}\n", v.files, v.size_bytes, evidence::kChecksumsFile);
  text +=
      fmt::format("  {} with records of {}; {}\n", plural(v.runs, "run"), plural(v.workers, "worker"),
                  v.plan_sha256.empty() ? "imported, so there is no plan" : "all of one plan, none missing");
  text +=
      fmt::format("  derived again, byte for byte: {}\n",
                  v.derived_again.empty() ? "nothing" : fmt::format("{}", fmt::join(v.derived_again, ", ")));
  text += fmt::format("  SHA-256 of {}: {}\n", evidence::kChecksumsFile, v.seal_sha256);
  return text;
}

std::string verification_json(const Verification& v, const std::string& name) {
  Json json;
  json["evidence"] = name;
  json["holds"] = v.holds();
  json["finished"] = v.finished;
  json["differences"] = Json::array();
  for (const evidence::Difference& one : v.differences) {
    json["differences"].push_back(Json{{"file", one.file}, {"what", one.what}});
  }
  json["notes"] = v.notes;
  json["files"] = v.files;
  json["size_bytes"] = v.size_bytes;
  json["runs"] = v.runs;
  json["workers"] = v.workers;
  json["derived_again"] = v.derived_again;
  json["derived_by"] = v.derived_by.empty() ? Json(nullptr) : Json(v.derived_by);
  json["plan_sha256"] = v.plan_sha256.empty() ? Json(nullptr) : Json(v.plan_sha256);
  json["seal_sha256"] = v.seal_sha256.empty() ? Json(nullptr) : Json(v.seal_sha256);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rollcall::verify
