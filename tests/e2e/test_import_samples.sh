#!/usr/bin/env bash
# Real logs of HAMi-core on a real GPU become evidence that says what was seen: with and
# without the launcher's list, with and without regions, whatever these are packed by.
source "$(dirname "$0")/lib.sh"

data=$ROLLCALL_SOURCE/tests/data/hami-core-h200
layout='{arm}-{topology}-run{run}/cache_{cache}.log'
truth='{arm}-{topology}-run{run}/workers.csv'

# Regions packed by gzip, and not packed at all, of the same logs.
cp -r "$data" samples
for region in samples/*/*.region.zst; do
  zstd -dqc "$region" >"${region%.zst}"
  gzip -nc "${region%.zst}" >"${region%.zst}.gz"
done

import() { # NAME OPTION...
  local name=$1
  shift
  expect_exit 0 "$rollcall" import hami-logs --input-dir samples --layout "$layout" --out "$name" "$@"
}
import bare
import listed --truth "$truth"
import region --regions '{arm}-{topology}-run{run}/cache_{cache}.region.zst'
import both --truth "$truth" --regions '{arm}-{topology}-run{run}/cache_{cache}.region.zst'
import gzip --truth "$truth" --regions '{arm}-{topology}-run{run}/cache_{cache}.region.gz'
import plain --truth "$truth" --regions '{arm}-{topology}-run{run}/cache_{cache}.region'

# arm topology run: workers self peer discovery_failed external unresolved
expected='hami 1x20 1: 20 20 0 0 0 0
hami 1x20 2: 20 20 0 0 0 0
hami 1x20 3: 20 20 0 0 0 0
native 1x20 1: 20     
native 1x20 2: 20     
native 1x20 3: 20     
hami 10x2 1: 20 2 18 0 0 0
hami 10x2 2: 20 3 17 0 0 0
hami 10x2 3: 20 3 17 0 0 0
native 10x2 1: 20     
native 10x2 2: 20     
native 10x2 3: 20     '
table() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    { print $c["arm"], $c["topology"], $c["run"] ":", $c["workers"], $c["self"], $c["peer"], $c["discovery_failed"], $c["external"], $c["unresolved"] }' "$1"
}
for name in bare listed region both gzip plain; do
  expect_equal "$name" "$(table "$name/derived/summary.csv")" "$expected"
  expect_equal "$name: valid" "$(column "$name/derived/summary.csv" valid | sort -u)" true
  (cd "$name" && sha256sum --quiet -c SHA256SUMS) || fail "$name: checksums"
  expect_exit 0 "$rollcall" summarize --input-dir "$name" --output-dir "again-$name"
  diff -r "$name/derived" "again-$name" || fail "$name: derived again it is another"
done
# Where the assigned PID was read.
expect_equal "source of bare" "$(column bare/derived/pid-mapping-summary.csv source | sort -u)" hami-core-log
expect_equal "source of both" "$(column both/derived/pid-mapping-summary.csv source | sort -u)" hami-core
# However it was packed, the region is kept as the same bytes; and logs as they are.
diff -r gzip/runs both/runs || fail "regions by gzip differ"
diff -r plain/runs both/runs || fail "plain regions differ"
cmp samples/hami-10x2-run1/cache_3.log both/runs/*-10x2-hami-r1/logs/cache_3.log
cmp samples/hami-10x2-run1/workers.csv both/runs/*-10x2-hami-r1/truth.csv
zstd -dqc both/runs/*-10x2-hami-r1/regions/cache_3.region.zst | cmp - samples/hami-10x2-run1/cache_3.region

# Without the list it is said everywhere that nobody checked; with it the times are there.
expect_equal "truth of bare" "$(column bare/derived/summary.csv truth | sort -u)" "log: not checked against a launcher"
expect_equal "truth of both" "$(column both/derived/summary.csv truth | sort -u)" launcher
expect_equal "cuInit by the benchmark" "$(column bare/derived/summary.csv cuinit_ok | sort -u)" 20
expect_equal "median without times" "$(column bare/derived/summary.csv cuinit_p50_ms | sort -u)" ""
expect_equal "span by the list" "$(column both/derived/summary.csv span_s | head -1)" 4.792
import again
diff -r bare again || fail "the same import gives other bytes"
grep -q "not checked against a launcher" out || fail "the report does not say that nobody checked"
import json --json
jq -e '.settings[0].truth == "log" and .runs == 12 and .conditions[3].classes.peer == 52' out >/dev/null || fail "JSON"
grep -q "$PWD" bare/import.json && fail "import.json names the machine's folders"
jq -e '.runs | length == 12' bare/import.json >/dev/null || fail "import.json"
