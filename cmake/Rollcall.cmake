# How the project's targets are made.
#
# Two kinds of code live here. Most of it runs in our own programs: ordinary
# C++20, instrumented by the sanitizers when those are on. The rest runs inside
# other people's processes (the shim, the stand-in driver libraries, the
# worker): libc only, no exceptions, and never instrumented, because a
# sanitizer's runtime must be the first library of a process and a preloaded
# one cannot be. Rooms that serve both are built twice: NAME for our programs
# and the unit tests, NAME_plain for other people's processes.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(tl-expected REQUIRED)
if(ROLLCALL_PORTABLE)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Boost REQUIRED)
find_package(CLI11 REQUIRED)
if(ROLLCALL_PORTABLE)
  find_library(ROLLCALL_ZSTD NAMES libzstd.a REQUIRED)
  find_library(ROLLCALL_RE2_FILE NAMES libre2.a REQUIRED)
  find_library(ROLLCALL_SECCOMP NAMES libseccomp.a REQUIRED)
  find_library(ROLLCALL_CAP_NG NAMES libcap-ng.a REQUIRED)
else()
  find_library(ROLLCALL_ZSTD NAMES zstd REQUIRED)
  find_library(ROLLCALL_RE2_FILE NAMES re2 REQUIRED)
  find_library(ROLLCALL_SECCOMP NAMES seccomp REQUIRED)
  find_library(ROLLCALL_CAP_NG NAMES cap-ng REQUIRED)
endif()
# The static one does not bring the threads that it needs.
set(ROLLCALL_RE2 "${ROLLCALL_RE2_FILE}" Threads::Threads)

add_library(rollcall_warnings INTERFACE)
# -Wrestrict: g++ 12 reports std::string concatenation falsely (GCC bug 105651).
target_compile_options(rollcall_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                                   -Wimplicit-fallthrough -Wno-restrict
                                                   $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(ROLLCALL_WERROR)
  target_compile_options(rollcall_warnings INTERFACE -Werror)
endif()

add_library(rollcall_common INTERFACE)
target_include_directories(rollcall_common INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(rollcall_common INTERFACE _GNU_SOURCE ROLLCALL_VERSION="${PROJECT_VERSION}")
target_link_libraries(rollcall_common INTERFACE rollcall_warnings)

# What our own programs and the tests are built with.
add_library(rollcall_program INTERFACE)
# Debian's fmt has no static library. As headers only it would triple the time of
# a sanitised build, so that is for the bundle alone.
target_link_libraries(rollcall_program INTERFACE rollcall_common tl::expected
                      $<IF:$<BOOL:${ROLLCALL_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)
if(ROLLCALL_SANITIZE)
  target_compile_options(rollcall_program INTERFACE -fsanitize=${ROLLCALL_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(rollcall_program INTERFACE -fsanitize=${ROLLCALL_SANITIZE})
endif()
if(ROLLCALL_PORTABLE)
  target_link_options(rollcall_program INTERFACE -static-libstdc++ -static-libgcc)
endif()

# What goes inside other people's processes is built with.
add_library(rollcall_guest INTERFACE)
target_link_libraries(rollcall_guest INTERFACE rollcall_common)
target_compile_definitions(rollcall_guest INTERFACE ROLLCALL_GUEST)
target_compile_options(rollcall_guest INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti
                       -fno-threadsafe-statics> -fno-stack-protector -fvisibility=hidden
                       # As they are shipped, also in a sanitised build.
                       $<$<NOT:$<CONFIG:Debug>>:-O2>)

# rollcall_library(NAME SOURCES... [LINK ...]): a room of our own programs.
function(rollcall_library name)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC rollcall_program ${A_LINK})
endfunction()

# rollcall_shared_room(NAME SOURCES... [LINK ...]): a room built twice, NAME and
# NAME_plain; LINK names rooms of the same kind.
function(rollcall_shared_room name)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC rollcall_program ${A_LINK})
  add_library(${name}_plain STATIC ${A_SOURCES})
  target_link_libraries(${name}_plain PUBLIC rollcall_guest)
  foreach(dep IN LISTS A_LINK)
    target_link_libraries(${name}_plain PUBLIC ${dep}_plain)
  endforeach()
endfunction()

# rollcall_old_glibc(NAME): may be loaded where glibc is as old as 2.28. See
# base/old_glibc.h for why libdl, which a linker of today would leave out.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libdl.so.2 OUTPUT_VARIABLE ROLLCALL_LIBDL
                OUTPUT_STRIP_TRAILING_WHITESPACE)
function(rollcall_old_glibc name)
  target_link_options(${name} PRIVATE "SHELL:-Wl,--no-as-needed ${ROLLCALL_LIBDL} -Wl,--as-needed")
endfunction()

# rollcall_guest_link(NAME): libc and nothing else, checked by the linker.
function(rollcall_guest_link name)
  target_link_options(${name} PRIVATE -nodefaultlibs -Wl,-z,defs -Wl,--as-needed)
  target_link_libraries(${name} PRIVATE rollcall_guest c gcc)
endfunction()
