#!/usr/bin/env bash
# All that is derived can be derived again, byte for byte; and nothing is overwritten.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x20 --topology 20x1 --arm legacy --runs 2 --out E
expect_exit 0 "$rollcall" summarize --input-dir E --output-dir D
for table in summary.csv pid-mapping-summary.csv external-wall-times.csv statistics.csv derived-by.txt; do
  cmp "E/derived/$table" "D/$table"
done
expect_equal "who derived" "$(cat D/derived-by.txt)" "$("$rollcall" --version)"
expect_exit 2 "$rollcall" summarize --input-dir E --output-dir D
expect_one_line "exists; nothing is overwritten"
expect_exit 2 "$rollcall" summarize --input-dir nowhere --output-dir D2
expect_one_line "expected an evidence folder"
[ ! -e D2 ] || fail "an output folder was made for nothing"
mkdir empty
expect_exit 2 "$rollcall" summarize --input-dir empty --output-dir D2
expect_exit 2 "$rollcall" summarize --input-dir E --output-dir D2 --layout x
expect_one_line "layout"

# A record that says something this version does not know is refused, with its place.
cp -r E F
record=$(ls -d F/runs/*legacy-r1 | head -1)/workers.jsonl
sed -i '3s/"worker":/"wroker":/' "$record"
expect_exit 4 "$rollcall" summarize --input-dir F --output-dir D2
expect_one_line "workers.jsonl was changed"
[ ! -e D2 ] || fail "tables of changed evidence"
rm F/SHA256SUMS
expect_exit 2 "$rollcall" summarize --input-dir F --output-dir D2
expect_one_line "workers.jsonl:3"

# An unfinished experiment can be looked at, and says that it is one.
cp -r E G && rm G/SHA256SUMS
expect_exit 0 "$rollcall" summarize --input-dir G --output-dir D3
expect_one_line "unfinished.*--resume"
