# Property tests of the rooms worker, shim and study. Included by
# tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)

add_executable(test_property_study
  "${CMAKE_CURRENT_LIST_DIR}/study_plans.cc" "${CMAKE_CURRENT_LIST_DIR}/study_schedules.cc"
  "${CMAKE_CURRENT_LIST_DIR}/study_discovery.cc" "${CMAKE_CURRENT_LIST_DIR}/study_texts.cc")
target_include_directories(test_property_study PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_property_study PRIVATE study rapidcheck GTest::gtest_main)
gtest_discover_tests(test_property_study DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
