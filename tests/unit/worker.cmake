# Unit tests of the rooms worker and gpu. Included by tests/CMakeLists.txt.
include(GoogleTest)
find_package(GTest REQUIRED)

add_executable(test_worker
  "${CMAKE_CURRENT_LIST_DIR}/worker_fault.cc" "${CMAKE_CURRENT_LIST_DIR}/worker_program.cc"
  "${CMAKE_CURRENT_LIST_DIR}/worker_nvml.cc")
target_include_directories(test_worker PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_worker PRIVATE worker gpu base GTest::gtest_main ${CMAKE_DL_LIBS})
target_compile_definitions(test_worker PRIVATE
  TEST_WORKER="$<TARGET_FILE:rollcall-worker>" TEST_SIM_DIR="${ROLLCALL_SIM_DIR}")
add_dependencies(test_worker rollcall-worker simgpu_libcuda simgpu_libnvml)
gtest_discover_tests(test_worker DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
