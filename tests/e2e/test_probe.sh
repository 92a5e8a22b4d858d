#!/usr/bin/env bash
# The measurements of single steps: every key is there, repeated answers have means,
# and a step that fails is an error and not a number.
source "$(dirname "$0")/lib.sh"

node() {
  "$rollcall" sim exec --profile study --time-scale 0.01 -- "$@"
}

expect_exit 0 node "$rollcall" probe phases --repetitions 2 --json
jq -e '(.repetitions | length == 2) and (.mean.procs_seen == 1) and (.repetitions[0].results | all(. == 0))
  and (.repetitions[0].stride_bytes == {v1: 16, v2: 24, v3: 24})
  and (.mean | [.cuInit_ms, .nvmlInit_ms, .nvmlGetHandle_ms, .snapshotA_ms, .ctxRetain_ms, .snapshotB_ms,
                .ctxRelease_ms, .critical_section_ms] | all(. > 0))
  and (.mean.critical_section_ms >= .mean.ctxRetain_ms + .mean.ctxRelease_ms)
  and (.sd.ctxRetain_ms >= 0)' out >/dev/null || { cat out; fail "phases"; }
expect_exit 0 node "$rollcall" probe nested-retain --json
jq -e '.repetitions[0].same_ctx == true and .mean.nested_retain_ms < .mean.cold_retain_ms
  and .mean.retain_while_held_ms < .mean.cold_retain_ms and .sd.cold_retain_ms == null' out >/dev/null ||
  { cat out; fail "nested-retain"; }
expect_exit 0 node "$rollcall" probe context "ten neighbours" --repetitions 2 --json
jq -e '.repetitions[1].cond == "ten neighbours" and (.mean | [.warmup_pair_ms, .retain1_ms, .release1_ms, .retain2_ms,
  .release2_ms, .retain3_ms, .release3_ms] | all(. > 0))' out >/dev/null || { cat out; fail "context"; }
expect_exit 0 node "$rollcall" probe phases --repetitions 2
grep -qE "^  ctxRetain_ms +[0-9.]+ +± [0-9.]+ +\(2\)" out || fail "no mean and deviation"
expect_exit 0 node "$rollcall" probe phases
! grep -q "±" out || fail "a deviation of one"

# What fails says which call and which code.
expect_exit 1 env LD_LIBRARY_PATH="$ROLLCALL_PREFIX/lib/rollcall/sim" "$rollcall" probe phases --repetitions 2
expect_one_line "repetition 1 of 2.*cuInit returned 100"
expect_exit 1 env LD_LIBRARY_PATH="$ROLLCALL_PREFIX/lib/rollcall/sim" "$ROLLCALL_PREFIX/bin/rollcall-probe" phases
jq -e '.error | test("cuInit returned 100")' out >/dev/null || fail "no error in the document"
sed 's/^memory_mib.*/memory_mib = 600/' "$ROLLCALL_SOURCE/profiles/instant.toml" >small.toml
expect_exit 1 "$rollcall" sim exec --profile ./small.toml -- bash -c 'coproc hold { exec '"$rollcall"' probe hold primary; }
  read -r _ <&"${hold[0]}"; '"$rollcall"' probe context x; status=$?; kill "$hold_PID"; wait "$hold_PID"; exit $status'
grep -q "^rollcall: .*cuDevicePrimaryCtxRetain returned 2 .out of memory" err || { cat err; fail "the call is not named"; }
expect_exit 2 "$rollcall" probe phases --repetitions 0
expect_exit 2 "$rollcall" probe hold sideways
expect_exit 2 "$rollcall" probe

# A holder is listed until it is told to end.
for mode in primary nonprimary; do
  expect_exit 0 node bash -c 'coproc hold { exec '"$rollcall"' probe hold '"$mode"'; }; read -r line <&"${hold[0]}"; echo "$line"
    '"$ROLLCALL_PREFIX"'/bin/rollcall-probe processes | jq ".processes | length"
    kill -TERM "$hold_PID"; wait "$hold_PID"; echo "status $?"
    '"$ROLLCALL_PREFIX"'/bin/rollcall-probe processes | jq ".processes | length"'
  grep -qE "^warm_holder ready mode=$mode pid=[0-9]+$" out || fail "the holder is not ready"
  expect_equal "listed, status, listed" "$(tail -n +2 out | tr '\n' ' ')" "1 status 0 0 "
done
