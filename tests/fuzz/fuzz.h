// What the fuzzers share: a law that does not hold is said and ends the program,
// so that libFuzzer keeps the input that broke it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define HOLDS(law)                                                             \
  do {                                                                         \
    if (!(law)) {                                                              \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #law); \
      abort();                                                                 \
    }                                                                          \
  } while (false)

namespace rollcall::fuzz {

// Takes the text up to the next `end`, which is dropped; all of it where there is none.
inline std::string_view take_until(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

}  // namespace rollcall::fuzz
