# Unit tests of the room shim: what is outside the hooks. Included by
# tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)

add_executable(test_shim
  "${CMAKE_CURRENT_LIST_DIR}/shim_settings.cc" "${CMAKE_CURRENT_LIST_DIR}/shim_snapshot_diff.cc"
  "${CMAKE_CURRENT_LIST_DIR}/shim_lock.cc" "${CMAKE_CURRENT_LIST_DIR}/shim_node_lock.cc"
  "${CMAKE_CURRENT_LIST_DIR}/shim_region_check.cc" "${CMAKE_CURRENT_LIST_DIR}/shim_region_join.cc"
  "${CMAKE_CURRENT_LIST_DIR}/shim_region_crash.cc")
target_include_directories(test_shim PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_shim PRIVATE shim GTest::gtest_main)
gtest_discover_tests(test_shim DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
