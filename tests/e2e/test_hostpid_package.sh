#!/usr/bin/env bash
# libhostpid as a stranger meets it: an installation somewhere, one header, pkg-config
# or CMake, a C compiler; nothing of this project's source.
source "$(dirname "$0")/lib.sh"

cmake --install "$ROLLCALL_PREFIX" --prefix "$work/inst" >install.log 2>&1 || { tail install.log >&2; fail "cannot install"; }
mv inst moved  # it must not matter where it lies
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
cp "$ROLLCALL_SOURCE/examples/whoami.c" .

read -ra flags <<<"$(pkg-config --cflags --libs hostpid)"
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror whoami.c "${flags[@]}" -o shared
check() { # check PROGRAM: it knows this process, or says why not
  local status=0
  "$@" >out || status=$?
  if [ "$(stat -L -c %i /proc/self/ns/pid)" = 4026531836 ]; then
    expect_equal "exit status of $1" "$status" 0
    grep -qE '^host PID [0-9]+ \(initial-namespace\)$' out || fail "$(cat out)"
  else
    expect_equal "exit status of $1" "$status" 1
    grep -q '^host PID unknown: unavailable: .*hostpidd' out || fail "$(cat out)"
  fi
  grep -q '^NVML PID unknown: unavailable: ' out || fail "$(cat out)"
}
check env LD_LIBRARY_PATH="$work/moved/lib" ./shared

# The static library is for C programs, too: no C++ library is needed.
gcc -std=c99 -DHOSTPID_STATIC whoami.c -I moved/include moved/lib/libhostpid.a -o static
! readelf -d static | grep -q 'libstdc\|libhostpid' || fail "the static one needs more than libc"
check ./static

mkdir cmake && cat >cmake/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.10)
project(uses_hostpid C)
find_package(hostpid 1 REQUIRED)
add_executable(with_shared ../whoami.c)
target_link_libraries(with_shared hostpid::hostpid)
add_executable(with_static ../whoami.c)
target_link_libraries(with_static hostpid::static)
CMAKE
cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$work/moved" >cmake.log 2>&1 && cmake --build cmake/build >>cmake.log 2>&1 ||
  { tail cmake.log >&2; fail "find_package(hostpid) does not serve"; }
check cmake/build/with_shared
check cmake/build/with_static

# Versioned symbols and nothing beside them; the soname says which interface it is.
library=moved/lib/libhostpid.so
expect_equal "names that libhostpid shows" \
  "$(nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort | tr '\n' ' ')" \
  "hostpid_api_version@@HOSTPID_1.0 hostpid_discover@@HOSTPID_1.0 hostpid_options_init@@HOSTPID_1.0 hostpid_reason_text@@HOSTPID_1.0 hostpid_status_text@@HOSTPID_1.0 hostpid_tier_text@@HOSTPID_1.0 "
readelf -d "$library" | grep -q 'SONAME.*\[libhostpid.so.1\]' || fail "no soname"

# A header for C++, too, and with no help of others.
printf '#include <hostpid/hostpid.h>\nint main() { return hostpid_api_version() != 1000; }\n' >plus.cc
g++ -std=c++11 -Wall -Wextra -Werror plus.cc "${flags[@]}" -Wl,-rpath,"$work/moved/lib" -o plus
./plus || fail "another version than the header's"
