#!/usr/bin/env bash
# The arm `tiered` in one process: whichever way it comes to its context, the challenge runs
# with the first one, once, and leaves everything as it was; children are told about
# themselves; and where nothing can be proved the slot says why.
source "$(dirname "$0")/lib.sh"

shim=$ROLLCALL_PREFIX/lib/rollcall/librollcall_shim.so
profile=instant
under_shim() {
  rm -f region
  "$rollcall" sim exec --profile "$profile" "${node[@]}" -- env LD_PRELOAD="$shim" ROLLCALL_SHIM_DISCOVERY=tiered \
    CUDA_DEVICE_MEMORY_SHARED_CACHE="$work/region" "${extra[@]}" "$ROLLCALL_TEST_BIN/cuda_context" "$@"
}
node=() extra=()
slots() { "$ROLLCALL_TEST_BIN/region_dump" "$work/region" numbers; }

[ "$(stat -L -c %i /proc/self/ns/pid)" = 4026531836 ] || skip "not in the kernel's first PID namespace"

for way in retain create:2 create:3 create:4 proc:3020 proc:11040 proc:12050 proc-retain "loop:1" \
  "retain create:2 retain" "create:2 create:2 proc:12050 retain"; do
  # shellcheck disable=SC2086
  expect_exit 0 under_shim $way
  pid=$(head -n 1 out)
  expect_equal "slot ($way)" "$(slots)" "$pid 3 $pid/initial-namespace/ $pid/challenge/ 1"
done

# Only cuInit: the host PID is known, the other waits for a context.
expect_exit 0 under_shim init
pid=$(head -n 1 out)
expect_equal "slot after cuInit alone" "$(slots)" "$pid 3 $pid/initial-namespace/ 0//no_context 0"

# A child by raw clone is another process, though it inherited all that its parent knew.
expect_exit 0 under_shim fork retain
pid=$(head -n 1 out)
expect_equal "slot of the child" "$(slots)" "$pid 3 $pid/initial-namespace/ $pid/challenge/ 1"
status=0
under_shim namespace retain >out 2>err || status=$?
if [ "$status" -ne 77 ]; then
  expect_equal "exit status of a child that begins a namespace" "$status" 0
  expect_equal "its number" "$(head -n 1 out)" 1
  # Global view: NVML lists it under its host PID, and nothing proves that this is one.
  expect_equal "what it claims of the host" "$(slots | cut -d' ' -f3)" "0//no_broker"
  slots | cut -d' ' -f4 | grep -qE '^[0-9]+/challenge/$' || fail "no NVML PID: $(slots)"
fi

# Where nothing can be proved it is said, and asked again at most eight times.
make_profile() { # make_profile KEY VALUE TABLE
  sed "s/^name = .*/name = \"odd\"/; /^$1 =/d" "$ROLLCALL_SOURCE/profiles/instant.toml" >odd.toml
  if [ -n "$3" ]; then printf '[%s]\n%s = %s\n' "$3" "$1" "$2" >>odd.toml; else sed -i "s/^\[device\]/[device]\n$1 = $2/" odd.toml; fi
  profile=./odd.toml
}
make_profile process_memory false nvml
expect_exit 0 under_shim loop:20
slots | grep -qE ' 0//memory_not_reported 1$' || fail "unsupported was asked again: $(slots)"
make_profile memory_mib 600 ""
expect_exit 0 under_shim loop:20
slots | grep -qE ' 0//not_enough_memory 8$' || fail "eight tries, and typed: $(slots)"
make_profile refuse true nvml
expect_exit 0 under_shim retain
slots | grep -qE ' 0//nvml_unavailable 1$' || fail "$(slots)"
# A driver that lists threads: the number is NVML's, and not taken for the host PID.
make_profile lists '"thread"' nvml
expect_exit 0 under_shim retain
pid=$(head -n 1 out)
expect_equal "slot where threads are listed" "$(slots)" "$pid 3 $pid/initial-namespace/ $pid/challenge/ 1"

# A broker that is configured and not there, or silent, does not hold the program up for long.
profile=instant
extra=(ROLLCALL_SHIM_BROKER=/nonexistent/broker.sock)
expect_exit 0 under_shim init
slots | grep -qE '/initial-namespace/ 0//broker_gone 0$' || fail "$(slots)"
mkdir -m 711 silent
cat >silent.py <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1]); s.listen(1); print("ready", flush=True); time.sleep(60)
PY
python3 silent.py "$work/silent/broker.sock" >ready &
server=$!
await test -s ready
extra=(ROLLCALL_SHIM_BROKER="$work/silent/broker.sock" ROLLCALL_SHIM_BROKER_UID="$(id -u)" ROLLCALL_SHIM_DEADLINE_MS=50)
expect_exit 0 under_shim init
slots | grep -qE '/initial-namespace/ 0//broker_timeout 0$' || fail "$(slots)"
kill "$server"
