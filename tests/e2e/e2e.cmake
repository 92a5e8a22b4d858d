# End-to-end tests: one behaviour a file, each a shell script that runs the real
# programs of this build tree. The small programs they need are guests like the
# worker: never instrumented.
set(ROLLCALL_TEST_BIN "${CMAKE_BINARY_DIR}/tests/bin")

# e2e_program(NAME SOURCE [LINK...])
function(e2e_program name source)
  add_executable(${name} "${CMAKE_CURRENT_SOURCE_DIR}/e2e/programs/${source}")
  target_link_libraries(${name} PRIVATE rollcall_common ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${ROLLCALL_TEST_BIN}")
endfunction()

e2e_program(cuda_linked cuda_linked.c simgpu_libcuda)
e2e_program(cuda_dlsym cuda_dlsym.c)
e2e_program(cuda_proc_address cuda_proc_address.c)
e2e_program(cuda_fork cuda_fork.c)
e2e_program(region_dump region_dump.cc shim)
# Without the run path of the build tree: the node's own library path must lead to the driver.
set_target_properties(cuda_linked PROPERTIES SKIP_BUILD_RPATH ON)

file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_*.sh")
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  string(REPLACE "test_" "e2e." name "${name}")
  add_test(NAME ${name} COMMAND bash "${script}")
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "ROLLCALL_PREFIX=${CMAKE_BINARY_DIR};ROLLCALL_TEST_BIN=${ROLLCALL_TEST_BIN};ROLLCALL_SOURCE=${PROJECT_SOURCE_DIR}"
    SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS e2e)
endforeach()
