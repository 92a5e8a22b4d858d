# Joins Vega's pieces into the one script that a report carries:
#   cmake -DPIECES_DIR=… -DREQUIRE=require.js -DOUTPUT=vega.js -P Vega.cmake
#
# Debian's libjs-vega has no single file, only UMD pieces that `require` each other (what
# they need of d3 is within them). Each becomes a function of its name, after a loader of
# a few lines. Only what the charts use is taken: no maps, no force layouts, no text
# clouds. Made at build time, so that an installed program needs nothing of it.
cmake_policy(SET CMP0007 NEW)

# What a piece is called by the others, where that is not its file's name.
set(piece_vega-selection "vega-selections")
set(PIECES
  vega-util vega-time vega-format vega-loader vega-dataflow vega-canvas vega-scale vega-scenegraph vega-expression
  vega-event-selector vega-statistics vega-selection vega-functions vega-runtime vega-parser vega-transforms
  vega-view-transforms vega-encode vega-view vega-interpreter)

set(script "'use strict';\n(() => {\n")
file(READ "${REQUIRE}" text)
string(APPEND script "${text}")
foreach(piece IN LISTS PIECES)
  file(READ "${PIECES_DIR}/${piece}.min.js" text)
  # Their maps are not here, and a browser would ask for them.
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" text "${text}")
  # Either would end the script element, or keep it from ending.
  if(text MATCHES "</[sS][cC][rR][iI][pP][tT]|<!--")
    message(FATAL_ERROR "${piece}.min.js cannot stand inside an HTML page")
  endif()
  set(name "${piece}")
  if(DEFINED piece_${piece})
    set(name "${piece_${piece}}")
  endif()
  string(APPEND script "pieces.set('${name}', function (exports, require, module) {\n${text}\n});\n")
endforeach()
string(APPEND script "globalThis.requireVega = require;\n})();\n")
file(WRITE "${OUTPUT}" "${script}")
