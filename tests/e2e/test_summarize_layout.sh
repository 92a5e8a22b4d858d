#!/usr/bin/env bash
# Tables of raw logs without making evidence of them, and wall times that were taken by hand.
source "$(dirname "$0")/lib.sh"

cp -r "$ROLLCALL_SOURCE/tests/data/hami-core-h200" raw
layout='{arm}-{topology}-run{run}/cache_{cache}.log'
truth='{arm}-{topology}-run{run}/workers.csv'
cat >walls.csv <<'CSV'
topology,arm,run,external_wall_s
1x20,hami,1,5.10
1x20,hami,2,5.2
1x20,hami,3,5.05
1x20,native,1,0.60
10x2,hami,1,
CSV

# The study's own command line; only that it must be told how the paths are made.
expect_exit 2 "$rollcall" summarize --input-dir raw --external-wall-times walls.csv --output-dir D
expect_one_line "--layout"
[ ! -e D ] || fail "a folder was made"
expect_exit 0 "$rollcall" summarize --input-dir raw --layout "$layout" --external-wall-times walls.csv --output-dir D
grep -q "not checked against a launcher" err || fail "nobody checked, and it is not said"
expect_equal "wall times" "$(column D/external-wall-times.csv external_wall_s | tr '\n' ' ')" "5.100 5.200 5.050 0.600         "
[ ! -e D/SHA256SUMS ] || fail "it looks like evidence"

# The same tables by way of evidence, which keeps what was stated.
expect_exit 0 "$rollcall" import hami-logs --input-dir raw --layout "$layout" --truth "$truth" --external-wall-times walls.csv --out E
expect_exit 0 "$rollcall" summarize --input-dir raw --layout "$layout" --truth "$truth" --external-wall-times walls.csv --output-dir D2
diff -r E/derived D2 || fail "the tables of logs and of their evidence differ"
expect_exit 0 "$rollcall" summarize --input-dir E --output-dir D3
diff -r E/derived D3 || fail "the stated times are not in the records"

# What was measured stands; a table that says otherwise is told, after the tables are written.
expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x3 --arm native --runs 2 --out M
expect_exit 0 "$rollcall" summarize --input-dir M --external-wall-times M/derived/external-wall-times.csv --output-dir D4
[ ! -s err ] || fail "its own times differ"
wall=$(column M/derived/external-wall-times.csv external_wall_s | head -1)
printf 'topology,arm,run,external_wall_s\n1x3,native,1,%s\n1x3,native,2,99.5\n1x4,native,1,3\n' "$wall" >other.csv
expect_exit 4 "$rollcall" summarize --input-dir M --external-wall-times other.csv --output-dir D5
grep -q "other.csv:3: run 00.-1x3-native-r2 .*99.5" err || fail "the run that differs is not named"
grep -q "other.csv:4: no run 1x4 native 1" err || fail "the row of no run is not named"
expect_equal "lines" "$(wc -l <err)" 2
cmp D5/external-wall-times.csv M/derived/external-wall-times.csv

# Wrong input, with file and line.
printf 'topology,arm,run,external_wall_s\n1x3,native,1,2s\n' >bad.csv
expect_exit 2 "$rollcall" summarize --input-dir M --external-wall-times bad.csv --output-dir D6
expect_one_line "bad.csv:2: external_wall_s"
expect_exit 2 "$rollcall" summarize --input-dir M --external-wall-times nowhere.csv --output-dir D6
expect_one_line "nowhere.csv"
expect_exit 2 "$rollcall" summarize --input-dir M --truth "$truth" --output-dir D6
expect_one_line "--truth: is only for logs.*--layout"
[ ! -e D6 ] || fail "a folder was made"
