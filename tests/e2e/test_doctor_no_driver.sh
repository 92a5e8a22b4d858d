#!/usr/bin/env bash
# Without a driver, and with one that is broken, doctor fails and names it; nothing
# that was not observed passes, and nothing crashes.
source "$(dirname "$0")/lib.sh"

unset LD_LIBRARY_PATH ROLLCALL_SIM_SOCKET
! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' || skip "this machine has a CUDA driver"

expect_exit 1 "$rollcall" doctor
grep -qE "^  fail  cuda_driver +libcuda.so.1: cannot be loaded" out || fail "the missing driver is not named"
grep -q "rollcall run --node sim" out || fail "no next step"
expect_equal "failures" "$(grep -c "^  fail" out)" 1
expect_equal "standard error" "$(cat err)" ""
expect_exit 1 "$rollcall" doctor --json
expect_equal "passes" "$(jq -c '[.checks[] | select(.status == "pass") | .id] - ["kernel", "pid_namespace"]' out)" \
  '["proc","process_limits"]'

# A driver without a node behind it: CUDA says 100, NVML 9.
export LD_LIBRARY_PATH=$ROLLCALL_PREFIX/lib/rollcall/sim
expect_exit 1 "$rollcall" doctor --json
jq -e '.facts.node.cuinit_result == 100 and (.facts.node.nvml_error | test("returned 9"))' out >/dev/null ||
  fail "$(jq -c .facts.node out)"

# CUDA works and NVML is missing: no list, no view, and it says so.
mkdir cuda-only && cp "$LD_LIBRARY_PATH/libcuda.so.1" cuda-only/
expect_exit 1 "$rollcall" sim exec --profile instant -- env LD_LIBRARY_PATH="$work/cuda-only" "$rollcall" doctor --json
jq -e '.facts.node.cuda_error == "" and .facts.view.view == "unknown"
  and (.checks[] | select(.id == "nvml") | .status == "fail")' out >/dev/null || fail "NVML is not missed"

# Libraries that are none, or lack functions, or end the process.
mkdir broken && echo "not a library" >broken/libcuda.so.1 && cp "$LD_LIBRARY_PATH/libnvidia-ml.so.1" broken/
LD_LIBRARY_PATH=$work/broken expect_exit 1 "$rollcall" doctor
mkdir empty && printf 'int nothing;' | cc -shared -fPIC -x c - -o empty/libcuda.so.1 -Wl,-soname,libcuda.so.1
LD_LIBRARY_PATH=$work/empty expect_exit 1 "$rollcall" doctor
grep -q "has no function cuInit" out || fail "the missing function is not named"
mkdir crash && printf '__attribute__((constructor)) static void f(void) { __builtin_trap(); }' |
  cc -shared -fPIC -x c - -o crash/libcuda.so.1
LD_LIBRARY_PATH=$work/crash expect_exit 1 "$rollcall" doctor
grep -qE "^  fail  cuda_driver +rollcall-probe node: ended by signal" out || fail "the crash is not told"
