#include "hami/log.h"
namespace rollcall::hami {
std::optional<LogLine> parse_log_line(std::string_view) {
  return std::nullopt;
}
}  // namespace rollcall::hami
