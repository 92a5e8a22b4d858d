# Unit tests of the room base. Included by tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)

add_executable(test_base
  "${CMAKE_CURRENT_LIST_DIR}/base_values.cc" "${CMAKE_CURRENT_LIST_DIR}/base_files.cc"
  "${CMAKE_CURRENT_LIST_DIR}/base_process.cc" "${CMAKE_CURRENT_LIST_DIR}/base_futex.cc")
target_include_directories(test_base PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_base PRIVATE base base_files GTest::gtest_main)
gtest_discover_tests(test_base DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
