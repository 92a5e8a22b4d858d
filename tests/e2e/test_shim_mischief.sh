#!/usr/bin/env bash
# Shims that reach beyond their worker: the launcher lives, nothing of theirs stays, and
# what they spoiled is named.
source "$(dirname "$0")/lib.sh"

run_foreign cut-board 0
expect_equal "right ones though the board was to be cut" "$(count_class cut-board self)" 2

run_foreign daemon 3
expect_equal "reasons of a daemon" "$(reasons daemon)" processes_left
! grep -lsq "$work/daemon/" /proc/[0-9]*/environ || fail "a daemon is left"
expect_equal "right ones all the same" "$(count_class daemon self)" 2

# Also where the run is interrupted.
"$rollcall" run plan.toml --node sim --quiet --time-scale 1 --topology 1x20 --hold all --out "$PWD/interrupted" >interrupted.log 2>&1 &
launcher=$!
daemon_there() { grep -lsq "$work/interrupted/" /proc/[0-9]*/environ; }
await daemon_there
sleep 0.5
kill -TERM "$launcher"
wait "$launcher" || true
! grep -lsq "$work/interrupted/" /proc/[0-9]*/environ || fail "a daemon is left after an interruption"

# A process that became our child by exec is nobody's to end.
cat >exec.sh <<SH
sleep 60 &
echo \$! >bystander
exec "$rollcall" run plan.toml ${quick[*]} --out bystanders
SH
sed -i 's/"daemon"/"right"/' plan.toml
expect_exit 0 bash exec.sh
kill -0 "$(cat bystander)" || fail "a process that was there before was ended"
kill "$(cat bystander)"

run_foreign replace-log 3
case $(reasons replace-log) in *log_not_kept*) ;; *) fail "not log_not_kept: $(reasons replace-log)" ;; esac
[ ! -L "$(echo replace-log/runs/*)/logs/cache_0.log" ] || fail "a link stands in the evidence"

run_foreign link-cache 3
expect_equal "reasons of a cache that is a link" "$(reasons link-cache)" region_not_kept
[ ! -e "$(echo link-cache/runs/*)/regions/cache_0.region.zst" ] || fail "the file behind the link was copied"

for folder in cut-board daemon replace-log link-cache; do
  (cd "$folder" && sha256sum --quiet -c SHA256SUMS) || fail "$folder does not agree with its checksums"
done

# A library that is rebuilt while an experiment runs: not one table of two libraries.
cp "$ROLLCALL_TEST_BIN/libforeign_shim.so" mine.so
sed -i "s|^preload = .*|preload = \"mine.so\"|; s/^runs = .*/runs = 6/; s/ MODE = \"[a-z-]*\"/ MODE = \"right\"/; s/FOREIGN_SHIM_MODE = \"[a-z-]*\"/FOREIGN_SHIM_MODE = \"right\"/" plan.toml
"$rollcall" run plan.toml --node sim --quiet --time-scale 0.5 --out swapped >swapped.log 2>&1 &
launcher=$!
first_done() { ls -d swapped/runs/001-* >/dev/null 2>&1; }
await first_done
cp mine.so new.so && printf '\0' >>new.so && mv new.so mine.so
wait "$launcher" || true
expect_equal "the first run" "$(column swapped/derived/summary.csv valid | head -1)" true
expect_equal "the last run" "$(column swapped/derived/summary.csv invalid_reasons | tail -1)" program_changed
