# Property tests of evidence, analysis and report. Included by
# tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)

add_executable(test_property "${CMAKE_CURRENT_LIST_DIR}/round_trips.cc" "${CMAKE_CURRENT_LIST_DIR}/classes.cc")
target_include_directories(test_property PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_property PRIVATE report rapidcheck GTest::gtest_main)
gtest_discover_tests(test_property DISCOVERY_TIMEOUT 60)
