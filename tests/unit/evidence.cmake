# Unit tests of the rooms evidence, analysis and report. Included by
# tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)

function(rollcall_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "" "SOURCES;LINK")
  list(TRANSFORM A_SOURCES PREPEND "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/")
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  target_link_libraries(${name} PRIVATE ${A_LINK} GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()

rollcall_unit_test(test_evidence
  SOURCES evidence_topology.cc evidence_records.cc evidence_bytes.cc evidence_csv.cc evidence_folder_write.cc
          evidence_folder_read.cc
  LINK evidence)
rollcall_unit_test(test_analysis
  SOURCES analysis_classify.cc analysis_namespaces.cc analysis_validity.cc analysis_tables.cc analysis_summary.cc
  LINK analysis)
rollcall_unit_test(test_report
  SOURCES report_terminal.cc report_findings.cc
  LINK report)
