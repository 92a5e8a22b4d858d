// The assembler takes the files in as they are; their paths come from CMake. A literal
// of half a megabyte would take the compiler longer than all the rest of this room.
#include "report/embedded.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the name is a symbol and its own text
#define ROLLCALL_EMBED(name, path)                  \
  __asm__(                                          \
      ".pushsection .rodata\n"                      \
      ".global rollcall_embedded_" #name            \
      "\n"                                          \
      ".global rollcall_embedded_" #name            \
      "_end\n"                                      \
      "rollcall_embedded_" #name                    \
      ":\n"                                         \
      ".incbin \"" path                             \
      "\"\n"                                        \
      "rollcall_embedded_" #name                    \
      "_end:\n"                                     \
      ".byte 0\n"                                   \
      ".popsection\n");                             \
  extern "C" const char rollcall_embedded_##name[]; \
  extern "C" const char rollcall_embedded_##name##_end[]
// NOLINTEND(cppcoreguidelines-macro-usage)

ROLLCALL_EMBED(vega, ROLLCALL_VEGA_SCRIPT);
ROLLCALL_EMBED(script, ROLLCALL_PAGE_DIR "/report.js");
ROLLCALL_EMBED(style, ROLLCALL_PAGE_DIR "/report.css");
ROLLCALL_EMBED(licences, ROLLCALL_PAGE_DIR "/licences.txt");

namespace rollcall::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view vega_script() {
  return between(rollcall_embedded_vega, rollcall_embedded_vega_end);
}
std::string_view page_script() {
  return between(rollcall_embedded_script, rollcall_embedded_script_end);
}
std::string_view page_style() {
  return between(rollcall_embedded_style, rollcall_embedded_style_end);
}
std::string_view vega_licences() {
  return between(rollcall_embedded_licences, rollcall_embedded_licences_end);
}

}  // namespace rollcall::report
