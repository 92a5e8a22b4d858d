#!/usr/bin/env bash
# Every --help and every derived table is, byte for byte, what is kept for it; a command
# or a table without such a file is a failure too. When a change is meant: scripts/golden.
source "$(dirname "$0")/lib.sh"

golden=$ROLLCALL_SOURCE/tests/data/golden
"$ROLLCALL_SOURCE/scripts/golden" --rollcall "$rollcall" --out now
for kind in help tables; do
  diff -ru "$golden/$kind" "now/$kind" >&2 || fail "$kind: not what is kept; if it is meant: scripts/golden"
done
# That there is something to compare, and that the records show all that they are for.
[ "$(find now/help -type f | wc -l)" -ge 11 ] || fail "too few commands were found"
for class in self peer external discovery_failed unresolved; do
  grep -q ",$class," now/tables/measured/pid-mapping-summary.csv || fail "no worker is $class"
done
for text in ',"my,""shim""",' ',false,' ',thread_id,' ',namespace_pid,' '"0,1/1,0"'; do
  grep -qF -- "$text" now/tables/measured/*.csv || fail "no row with $text"
done
