#!/usr/bin/env bash
# --broker: each run has a broker of its own, which only the arm tiered is told of. What
# the launcher does with it is tested with one that serves nobody.
source "$(dirname "$0")/lib.sh"

mkdir prefix
cp -r "$ROLLCALL_PREFIX/bin" "$ROLLCALL_PREFIX/lib" "$ROLLCALL_PREFIX/share" prefix/
cp "$ROLLCALL_TEST_BIN/fake_hostpidd" prefix/bin/hostpidd
rollcall=$work/prefix/bin/rollcall
run=("$rollcall" run --node sim --quiet --broker --runs 1)
own=$(readlink /proc/self/ns/pid)
[ "$own" = "pid:[4026531836]" ] && host="" || host=" --namespace-is-host"

# Every run has one, its view is the node's, and its record says so.
expect_exit 0 "${run[@]}" --time-scale 0.02 --topology 2x2 --view translated --arm native --arm legacy --out E
expect_equal "records of a broker" "$(jq -s 'map(.broker) | unique' -c E/runs/*/run.json)" "[true]"
expect_equal "the plan's broker" "$(jq .broker E/plan.json)" true
for log in E/runs/*/logs/broker.log; do
  grep -qxE "serving with --socket-dir [^ ]+ --view translated$host" "$log" || fail "its command line: $(cat "$log")"
done
expect_equal "brokers" "$(cat E/runs/*/logs/broker.log | wc -l)" 2
expect_equal "folders of theirs" "$(cut -d' ' -f4 E/runs/*/logs/broker.log | sort -u | wc -l)" 2
jq -e '.programs_sha256.hostpidd' E/environment.json >/dev/null || fail "the program is not recorded"
expect_exit 0 "$rollcall" verify E
# The same without is another environment.
expect_exit 0 "$rollcall" run "${quick[@]}" --topology 2x2 --view translated --arm native --arm legacy --runs 1 --out without
! grep -q broker without/plan.json without/runs/*/run.json || fail "a broker where none was asked for"
expect_exit 2 "$rollcall" compare E without
expect_one_line "broker: A has yes, B has none.*--allow broker"

# Who is told of it: the arm tiered, by its socket and owner.
told() { # ARM OPTION...: what a worker of that arm has in its environment, in ./environ
  local arm=$1
  shift
  ROLLCALL_WORKER_FAULT=0:gate:stop "${run[@]}" --time-scale 0.02 --topology 1x2 --arm "$arm" \
    --out "told-$arm-$#" "$@" >out 2>err &
  launcher=$!
  stopped() { worker=$(children_of "$launcher" rollcall-worker | head -n 1) && [ -n "$worker" ] &&
    grep -qs '^State:.*stopped' "/proc/$worker/status"; }
  await stopped
  tr '\0' '\n' <"/proc/$worker/environ" >environ
  broker=$(children_of "$launcher" hostpidd)
  [ -n "$broker" ] || fail "no broker while the arm $arm runs"
}
end() {
  kill -INT "$launcher"
  wait "$launcher" || true
  [ ! -e "/proc/$broker" ] || fail "the broker of an interrupted run is left"
}
told tiered
socket=$(sed -n 's/^ROLLCALL_SHIM_BROKER=//p' environ)
[ -S "$socket" ] || fail "no socket at '$socket'"
expect_equal "mode of its folder" "$(stat -c %a "$(dirname "$socket")")" 700
expect_equal "owner" "$(sed -n 's/^ROLLCALL_SHIM_BROKER_UID=//p' environ)" "$(id -u)"
end
[ ! -e "$socket" ] || fail "the socket is left"
told legacy
! grep -q BROKER environ || fail "legacy is told"
end

# Where a socket's name would be too long, it lies elsewhere.
deep=$(printf 'd%.0s' {1..100})
mkdir "$deep"
expect_exit 0 "${run[@]}" --time-scale 0.02 --topology 1x1 --arm native --out "$deep/E"
elsewhere=$(cut -d' ' -f4 "$deep"/E/runs/*/logs/broker.log)
[[ $elsewhere != *"$deep"* ]] && [ "${#elsewhere}" -lt 96 ] || fail "its folder: $elsewhere"
[ ! -e "$elsewhere" ] || fail "the folder is left"

# One that does not come up is an error, with what it says; no folder is half made.
expect_exit 1 env FAKE_HOSTPIDD_MODE=refuse "${run[@]}" --topology 1x1 --arm native --out F
expect_one_line "the broker: ended before it served: hostpidd: no mood to serve"
# One that dies in the middle makes the run invalid.
expect_exit 3 env FAKE_HOSTPIDD_MODE=die "${run[@]}" --time-scale 1 --topology 1x4 --arm legacy --out G
expect_equal "reasons" "$(reasons G)" broker_died
# One that will not go is killed.
expect_exit 0 env FAKE_HOSTPIDD_MODE=stubborn "${run[@]}" --time-scale 0.02 --topology 1x1 --arm native --out H

# Missing: named before anything is made, and only where it is needed.
rm prefix/bin/hostpidd
expect_exit 1 "${run[@]}" --topology 1x1 --arm native --out I
expect_one_line "bin/hostpidd"
[ ! -e I ] || fail "a folder was made"
expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x1 --arm native --runs 1 --out I
cp "$ROLLCALL_TEST_BIN/fake_hostpidd" prefix/bin/hostpidd

# With isolation it can be reached inside, and not be written to. As in a container, a
# broker is started for tiered without being asked for.
unshare --pid --mount --ipc --fork --mount-proc true 2>/dev/null || skip "no PID namespace can be made here"
told tiered --isolate pid
socket=$(sed -n 's/^ROLLCALL_SHIM_BROKER=//p' environ)
[ -S "/proc/$worker/root$socket" ] || fail "no socket inside"
grep -qE " $(dirname "$socket") [^ ]+ ro[, ]" "/proc/$worker/mounts" || fail "its folder can be written to inside"
! grep -q "$(dirname "$socket")" /proc/self/mounts || fail "it is mounted outside"
end
expect_exit 0 unshare --pid --fork --mount-proc "$rollcall" run "${quick[@]}" --topology 1x2 --arm legacy \
  --arm tiered --runs 1 --out inside
expect_equal "brokers inside a container" "$(jq -r '"\(.arm) \(.broker // false)"' inside/runs/*/run.json | sort)" \
  "legacy false
tiered true"
grep -q -- "--namespace-is-host" inside/runs/*-tiered-*/logs/broker.log || fail "its numbers are not the node's"
