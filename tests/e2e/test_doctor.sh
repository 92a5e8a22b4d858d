#!/usr/bin/env bash
# doctor on the simulated node: it passes what is right there, tells both views apart
# from inside and outside of a PID namespace, and says what is wrong with a node.
source "$(dirname "$0")/lib.sh"

# node VIEW COMMAND...: COMMAND on a simulated node.
node() {
  local view=$1
  shift
  "$rollcall" sim exec --profile instant --view "$view" -- "$@"
}
# check ID: its status and what was found, from ./out.
check() {
  jq -re --arg id "$1" '.checks[] | select(.id == $id) | .status + " " + .found' out
}

for view in global translated; do
  expect_exit 0 node "$view" "$rollcall" doctor
  grep -qE "^  pass  nvml_pids +$view" out || fail "the view $view is not told"
  ! grep -q "^  fail" out || fail "something fails on the simulated node"
  [ "$(awk 'length($0) > 100' out)" = "" ] || fail "a line is too long"
  expect_exit 0 node "$view" "$rollcall" doctor --json
  for id in cuda_driver devices nvml nvml_pids process_entries process_memory gpu_idle mps process_limits device_memory; do
    check "$id" | grep -q "^pass " || fail "$id: $(check "$id")"
  done
  expect_equal "view" "$(jq -r .facts.view.view out)" "$view"
  expect_equal "context" "$(jq .facts.view.memory_bytes out)" $((518 << 20))
  expect_equal "strides" "$(jq -c '.facts.view | [.stride_v1, .stride_v2, .stride_v3]' out)" "[16,24,24]"
  expect_equal "library" "$(jq -r .facts.node.driver_library out)" \
    "$(realpath "$ROLLCALL_PREFIX/lib/rollcall/sim/libcuda.so.1")"
done

# A shim that loads and files that do not.
expect_exit 0 node global "$rollcall" doctor --shim "$ROLLCALL_PREFIX/lib/rollcall/librollcall_shim.so" --json
check shim | grep -q "^pass " || fail "our shim does not load"
echo "not a library" >bad.so
expect_exit 1 node global "$rollcall" doctor --shim bad.so --json
check shim | grep -q "^fail .*not an ELF library" || fail "shim: $(check shim)"
expect_exit 1 node global "$rollcall" doctor --shim missing.so
grep -q "^  fail  shim .*missing.so" out || fail "a missing shim is not named"

# Who computes on the device is told.
expect_exit 0 node global bash -c 'coproc hold { exec '"$rollcall"' probe hold primary; }; read -r _ <&"${hold[0]}"
  '"$rollcall"' doctor --json; kill "$hold_PID"'
check gpu_idle | grep -q "^warn in use by [0-9]* (rollcall-probe, 518 MiB) on device 0" || fail "$(check gpu_idle)"
# A node too small for the contexts of all.
expect_exit 0 node global "$rollcall" doctor --json --workers 4096
sed 's/^memory_mib.*/memory_mib = 2000/' "$ROLLCALL_SOURCE/profiles/instant.toml" >small.toml
expect_exit 0 "$rollcall" sim exec --profile ./small.toml -- "$rollcall" doctor --json --workers 4
check device_memory | grep -q "^warn 4 contexts" || fail "$(check device_memory)"
expect_exit 2 "$rollcall" doctor --workers 0
expect_one_line "--workers"

unshare --pid --fork --mount-proc true 2>/dev/null || skip "no PID namespace can be made here"
inside=(unshare --pid --fork --mount-proc "$rollcall" doctor --json)
expect_exit 0 node translated "${inside[@]}"
check nvml_pids | grep -q "^pass translated" || fail "$(check nvml_pids)"
check pid_namespace | grep -q "^warn " || fail "an own namespace is not told"
expect_equal "listed as itself" "$(jq .facts.view.caller_is_listed_as_itself out)" true
expect_exit 0 node global "${inside[@]}"
check nvml_pids | grep -q "^warn global, and not by this PID namespace" || fail "$(check nvml_pids)"
expect_equal "listed as itself" "$(jq .facts.view.caller_is_listed_as_itself out)" false
# /proc of another namespace misleads everything that looks there.
expect_exit 1 node translated unshare --pid --fork "$rollcall" doctor --json
check proc | grep -q "^fail " || fail "$(check proc)"
check nvml_pids | grep -q "^pass translated" || fail "$(check nvml_pids)"

# A driver that lists threads, tells no process's memory and lets the GPU sleep.
instant=$ROLLCALL_PREFIX/share/rollcall/profiles/instant.toml
{ cat "$instant"; printf '\n[nvml]\nlists = "thread"\nprocess_memory = false\npersistence = false\n'; } >threads.toml
expect_exit 0 "$rollcall" sim exec --profile ./threads.toml -- "$rollcall" doctor --json
check nvml_pids | grep -q "^warn the id of a thread" || fail "threads: $(check nvml_pids)"
check process_memory | grep -q "^warn " || fail "memory: $(check process_memory)"
check persistence | grep -q "^warn off" || fail "persistence: $(check persistence)"

# A driver without a device, and NVML that refuses.
sed 's/^gpus = 1/gpus = 0/' "$instant" >none.toml
expect_exit 1 "$rollcall" sim exec --profile ./none.toml -- "$rollcall" doctor --json
check cuda_driver | grep -q "^fail cuInit returned 100" || fail "no device: $(check cuda_driver)"
{ cat "$instant"; printf '\n[nvml]\nrefuse = true\n'; } >refuse.toml
"$rollcall" sim exec --profile ./refuse.toml -- "$rollcall" doctor --json >out || true
check nvml | grep -qE "^(warn|fail) " || fail "refusing NVML: $(check nvml)"
check nvml_pids | grep -q "^warn not known" || fail "refusing NVML: $(check nvml_pids)"
