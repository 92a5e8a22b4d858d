# Unit tests of the room study. Included by tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)

add_executable(test_study
  "${CMAKE_CURRENT_LIST_DIR}/study_plan.cc" "${CMAKE_CURRENT_LIST_DIR}/study_plan_file.cc"
  "${CMAKE_CURRENT_LIST_DIR}/study_plan_json.cc" "${CMAKE_CURRENT_LIST_DIR}/study_schedule.cc"
  "${CMAKE_CURRENT_LIST_DIR}/study_arms.cc" "${CMAKE_CURRENT_LIST_DIR}/study_limits.cc"
  "${CMAKE_CURRENT_LIST_DIR}/study_collect.cc" "${CMAKE_CURRENT_LIST_DIR}/study_identity_source.cc"
  "${CMAKE_CURRENT_LIST_DIR}/study_board.cc" "${CMAKE_CURRENT_LIST_DIR}/study_spawn.cc"
  "${CMAKE_CURRENT_LIST_DIR}/study_crew.cc")
# The thread sanitizer turns vfork into fork, and then a failed exec cannot be seen.
if(NOT ROLLCALL_SANITIZE MATCHES "thread")
  target_sources(test_study PRIVATE "${CMAKE_CURRENT_LIST_DIR}/study_spawn_failure.cc")
endif()
target_include_directories(test_study PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_study PRIVATE study GTest::gtest_main)
target_compile_definitions(test_study PRIVATE TEST_PROFILE_DIR="${CMAKE_CURRENT_LIST_DIR}/../../profiles")
gtest_discover_tests(test_study DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
