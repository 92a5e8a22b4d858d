// The project's one error model. An operation that can fail returns
// Result<T>; nothing is thrown across a room's border. An Error says where it
// happened, what is wrong (what was expected, what was found) and what the user
// can do about it, and becomes exactly one line. docs/errors.md tells the rules.
//
// This header is for our own programs. What runs inside other people's
// processes (see cmake/Rollcall.cmake) uses plain status codes instead: it
// may not depend on the C++ library.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rollcall::base {

// Whose fault it is; it decides the exit status of the command.
enum class ErrorKind {
  kUsage,       // the user's input is wrong: exit status 2
  kFailure,     // the system refused or something broke: exit status 1
  kDifference,  // something is not what it was recorded to be: exit status 4
};

struct Error {
  ErrorKind kind = ErrorKind::kFailure;
  std::string where;   // a file with its line, an option, a system call; may be empty
  std::string what;    // what was expected and what was found
  std::string advice;  // what to do; may be empty

  // "where: what; advice", with line breaks as blanks, so that it stays one line.
  [[nodiscard]] std::string line() const {
    std::string text;
    if (!where.empty()) text += where + ": ";
    text += what;
    if (!advice.empty()) text += "; " + advice;
    for (char& c : text) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    return text;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> usage_error(std::string where, std::string what,
                                                       std::string advice = {}) {
  return tl::unexpected<Error>(
      Error{ErrorKind::kUsage, std::move(where), std::move(what), std::move(advice)});
}

[[nodiscard]] inline tl::unexpected<Error> failure(std::string where, std::string what,
                                                   std::string advice = {}) {
  return tl::unexpected<Error>(
      Error{ErrorKind::kFailure, std::move(where), std::move(what), std::move(advice)});
}

// A system call that failed on `where` (usually a path); `error` is its errno.
[[nodiscard]] inline tl::unexpected<Error> system_failure(std::string where, const std::string& call,
                                                          int error, std::string advice = {}) {
  return failure(std::move(where), "cannot " + call + ": " + std::strerror(error), std::move(advice));
}

}  // namespace rollcall::base
