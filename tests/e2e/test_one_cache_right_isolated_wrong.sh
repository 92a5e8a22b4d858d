#!/usr/bin/env bash
# The study's finding: with one shared cache every worker finds itself; with
# isolated caches nearly all hold a neighbour's PID, and no call fails.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x20 --topology 20x1 --arm native --arm legacy --runs 2 --out E
summary=E/derived/summary.csv
expect_equal "runs" "$(tail -n +2 "$summary" | wc -l)" 8
expect_equal "self on one cache" "$(awk -F, '$2 == "1x20" && $6 == "legacy"' "$summary" | cut -d, -f13 | sort -u)" 20
awk -F, '$2 == "20x1" && $6 == "legacy" { if ($14 < 16 || $13 + $14 + $15 + $16 + $17 != 20) exit 1 }' "$summary" ||
  fail "isolated caches: fewer than 80 % peers, or classes that do not sum to 20"
expect_equal "classes of native" "$(awk -F, '$6 == "native"' "$summary" | cut -d, -f13-17 | sort -u)" ",,,,"
expect_equal "failed cuInit calls" "$(column "$summary" cuinit_failed | sort -u)" 0
expect_equal "valid" "$(column "$summary" valid | sort -u)" true
grep -q "Control: visible" out || fail "the control is not reported as visible"

# Every peer's PID is that of the worker that it names.
awk -F, 'NR == FNR { if (FNR > 1) pid[$1 "," $5] = $7; next }
         FNR > 1 && $9 == "peer" && pid[$1 "," $10] != $8 { exit 1 }' \
  E/derived/pid-mapping-summary.csv E/derived/pid-mapping-summary.csv || fail "a peer's PID is not the named worker's"
(cd E && sha256sum --quiet -c SHA256SUMS) || fail "checksums"
