// The parts of the page that are not of an experiment, inside the program: a report
// needs no file at run time, wherever the program was carried.
#pragma once

#include <string_view>

namespace rollcall::report {

std::string_view vega_script();  // Vega's pieces, joined at build time
std::string_view page_script();  // the charts and tables of the page
std::string_view page_style();
std::string_view vega_licences();  // of what is in vega_script()

}  // namespace rollcall::report
