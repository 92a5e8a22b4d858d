# Tests of the simulated node. The pure parts are tested as such; the stand-ins
# as a program meets them, by dlopen, and once more linked in, so that their
# code runs under the sanitizers too.
find_package(GTest REQUIRED)
include(GoogleTest)

function(simgpu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "PREFIX" "SOURCES;LINK")
  list(TRANSFORM A_SOURCES PREPEND "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/")
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  target_link_libraries(${name} PRIVATE ${A_LINK} GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_definitions(${name} PRIVATE
    TEST_SIMGPUD="$<TARGET_FILE:simgpud>" TEST_SIM_DIR="${ROLLCALL_SIM_DIR}"
    TEST_PROFILE_DIR="${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../profiles")
  add_dependencies(${name} simgpud simgpu_libcuda simgpu_libnvml)
  gtest_discover_tests(${name} TEST_PREFIX "${A_PREFIX}" PROPERTIES TIMEOUT 120)
endfunction()

simgpu_test(simgpu_model_test
  SOURCES simgpu_service_model.cc simgpu_node_state.cc simgpu_namespace_view.cc simgpu_profile.cc LINK simgpu)
simgpu_test(simgpu_guest_test SOURCES simgpu_guest.cc LINK simgpu_guest)
simgpu_test(simgpu_daemon_test SOURCES simgpu_daemon.cc simgpu_session.cc LINK simgpu)
simgpu_test(simgpu_stand_in_test SOURCES simgpu_stand_in.cc simgpu_stand_in_nvml.cc simgpu_stand_in_life.cc LINK simgpu)
simgpu_test(simgpu_stand_in_linked_test PREFIX Linked SOURCES simgpu_stand_in.cc simgpu_stand_in_nvml.cc
  LINK simgpu $<LINK_LIBRARY:WHOLE_ARCHIVE,simgpu_cuda,simgpu_nvml>)
target_compile_definitions(simgpu_stand_in_linked_test PRIVATE TEST_STAND_INS_LINKED)
set_target_properties(simgpu_stand_in_linked_test PROPERTIES ENABLE_EXPORTS ON)
