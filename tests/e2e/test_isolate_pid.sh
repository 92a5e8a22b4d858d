#!/usr/bin/env bash
# --isolate pid: each cache's workers in a PID, mount and IPC namespace of their own; the
# truth is still the launcher's.
source "$(dirname "$0")/lib.sh"

unshare --pid --mount --ipc --fork --mount-proc true 2>/dev/null || skip "no PID namespace can be made here"
isolated=("$rollcall" run "${quick[@]}" --isolate pid)

# Who is where, for any arm and view.
for view in global translated; do
  expect_exit 0 "${isolated[@]}" --view "$view" --topology 2x3 --topology 3x1 --runs 1 --out "$view"
  expect_equal "runs" "$(ls "$view/runs" | wc -l)" 6
  for run in "$view"/runs/*; do
    jq -se '
      all(.[]; (.nspid | length) == 2 and .nspid[0] == .pid and .nspid[1] > 1 and .nspid[1] < 10) and
      all(group_by(.cache)[]; (map(.pid_namespace) | unique | length) == 1) and
      (map({cache, pid_namespace}) | unique | length) == (map(.pid_namespace) | unique | length) and
      all(.[]; .fate == "finished")' "$run/workers.jsonl" >/dev/null || fail "who is where in $run"
    expect_equal "isolation of $run" "$(jq -r .isolation "$run/run.json")" pid
    own=$(readlink /proc/self/ns/pid | tr -dc 0-9)
    ! jq -r .pid_namespace "$run/workers.jsonl" | grep -qx "$own" || fail "a worker in the launcher's namespace"
  done
  expect_equal "isolation in the table" "$(column "$view/derived/summary.csv" isolation | sort -u)" pid
  expect_equal "namespaces differ" \
    "$(jq -r .pid_namespace "$view"/runs/*-3x1-native-*/workers.jsonl | sort -u | wc -l)" 3
done
jq -e '.isolation == "pid"' global/plan.json >/dev/null || fail "the plan does not say it"
jq -e '.programs_sha256["rollcall-namespace"]' global/environment.json >/dev/null || fail "a program is not recorded"

# Where the driver translates, each cache sees only its own: nobody to be mistaken for.
# The number is the one in the worker's own namespace.
expect_equal "translated: self" "$(count_class translated self)" 9
jq -se 'all(.[]; .discovery.assigned_pid == .nspid[1])' translated/runs/*-legacy-*/workers.jsonl >/dev/null ||
  fail "translated: another number than NVML's"
# Where it does not, all see all, and the number is the host's.
expect_exit 5 "${isolated[@]}" --view global --topology 12x1 --arm legacy --runs 1 --fail-on peer --out peers
jq -se 'map(.pid) as $pids | all(.[] | .discovery | select(.state == "assigned");
  .assigned_pid as $p | $pids | any(. == $p))' peers/runs/*/workers.jsonl >/dev/null || fail "global: another number"

# A stranger that takes getpid() for its host PID is right only where NVML says the same.
# Equal numbers in several namespaces are not mixed up.
run_foreign right 0 --topology 3x2 --isolate pid --view translated
expect_equal "getpid() where NVML translates" "$(count_class right self)" 6
expect_equal "numbers" "$(column right/derived/pid-mapping-summary.csv assigned_pid | sort -n | uniq -c | tr -s ' ' | tr '\n' ,)" \
  " 3 2, 3 3,"
mv right right-translated
run_foreign right 0 --topology 3x2 --isolate pid --view global
expect_equal "getpid() where it does not" "$(count_class right external)" 6
expect_equal "what they are" "$(column right/derived/pid-mapping-summary.csv alias | sort -u)" namespace_pid

# Orphans do not leave their namespace; they are seen there, and ended.
run_foreign daemon 3 --topology 2x2 --isolate pid --view translated
expect_equal "reasons of a daemon" "$(reasons daemon)" processes_left
jq -e '.events[0].detail | startswith("4 processes")' daemon/runs/*/run.json >/dev/null || fail "how many were left"
! grep -lsq "$work/daemon/" /proc/[0-9]*/environ || fail "a daemon is left"

# Inside: an own /proc, an own IPC namespace, the launcher's folder. Killed: nothing stays.
holders() { children_of "$launcher" rollcall-namesp; }
workers() { children_of "$launcher" rollcall-worker; }
all_there() { [ "$(workers | wc -l)" -eq 40 ]; }
gone() { local pid; for pid in $started; do [ ! -e "/proc/$pid" ] || return 1; done; }
long=("$rollcall" run --node sim --quiet --isolate pid --view translated --time-scale 0.3 --topology 4x10 --arm legacy)
"${long[@]}" --runs 1 --out killed >out 2>err &
launcher=$!
await all_there
worker=$(workers | head -n 1)
expect_equal "processes in its /proc" "$(ls "/proc/$worker/root/proc" | grep -c '^[0-9]')" 11
expect_equal "namespaces of a worker that are the launcher's" \
  "$(for ns in pid mnt ipc net uts user; do
    [ "$(readlink "/proc/$worker/ns/$ns")" != "$(readlink "/proc/$launcher/ns/$ns")" ] || echo -n "$ns "
  done)" "net uts user "
expect_equal "its folder" "$(readlink "/proc/$worker/cwd")" "$work"
expect_equal "first processes" "$(holders | wc -l)" 4
! grep -q "$work" /proc/self/mounts || fail "a mount came out of a namespace"
started="$(holders) $(workers) $(children_of "$launcher" simgpud)"
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null || true
await gone
expect_exit 0 "$rollcall" run --resume --quiet --out killed
expect_equal "isolation of what was resumed" "$(column killed/derived/summary.csv isolation | sort -u)" pid

# Interrupted: ended in order.
"${long[@]}" --out interrupted >out 2>err &
launcher=$!
await all_there
started="$(holders) $(workers)"
kill -INT "$launcher"
status=0
wait "$launcher" || status=$?
expect_equal "status of an interrupted study" "$status" 1
gone || fail "processes are left after an interruption"

# The first process of a namespace that dies takes its workers with it, and no others.
"${long[@]}" --runs 1 --out died >out 2>err &
launcher=$!
await all_there
kill -KILL "$(holders | head -n 1)"
status=0
wait "$launcher" || status=$?
expect_equal "status with a dead namespace" "$status" 3
expect_equal "reasons of a dead namespace" "$(reasons died)" "namespace_died;worker_died"
expect_equal "how workers ended" "$(jq -r .fate died/runs/*/workers.jsonl | sort | uniq -c | tr -s ' ' | tr '\n' ,)" \
  " 10 died, 30 finished,"
