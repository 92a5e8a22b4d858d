#!/usr/bin/env bash
# Whatever is changed in an evidence folder, verify ends with 4 and names it: one byte of any
# file, a file missing, a file too many; and what was sealed again afterwards, too.
source "$(dirname "$0")/lib.sh"

run=("$rollcall" run "${quick[@]}" --profile instant --topology 1x2 --topology 2x1 --arm native --arm legacy --runs 1)
expect_exit 0 "${run[@]}" --out good
expect_exit 0 "$rollcall" verify good
grep -q 'holds' out || fail "verify does not say that it holds"
expect_exit 0 "$rollcall" report good
[ -f good/derived/report.html ] || fail "no report"
expect_exit 0 "$rollcall" verify good
grep -q 'report.html' out || fail "the report was not derived again"
(cd good && sha256sum --quiet -c SHA256SUMS) || fail "sha256sum does not agree"

# names FILE: verify found a difference, and named this file.
names() {
  expect_exit 4 "$rollcall" verify bad
  grep -qF "$1: " out || { cat out >&2; fail "the changed file $1 is not named"; }
}
again() {
  rm -rf bad
  cp -a good bad
}

# flip FILE OFFSET: one bit of the byte at that offset.
flip() {
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
  # shellcheck disable=SC2059 # the format is the byte
  printf "\\$(printf '%03o' $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

files=0
while read -r file; do
  size=$(stat -c %s "good/$file")
  files=$((files + 1))
  for offset in 0 $((size / 2)) $((size - 1)); do
    [ "$size" -gt 0 ] || continue
    again
    flip "bad/$file" "$offset"
    # A line of SHA256SUMS and the file that it names cannot be told apart: both are named.
    if [ "$file" = SHA256SUMS ]; then
      expect_exit 4 "$rollcall" verify bad
      grep -qF SHA256SUMS out || fail "SHA256SUMS is not named"
    else
      names "$file"
    fi
  done
  again
  echo >>"bad/$file"
  if [ "$file" = SHA256SUMS ]; then expect_exit 4 "$rollcall" verify bad; else names "$file"; fi
  again
  rm "bad/$file"
  names "$file"
done < <(cd good && find . -type f | sed 's,^\./,,' | sort)
[ "$files" -ge 20 ] || fail "only $files files"

# Too many: a file, a hidden one, a folder, a link, a pipe.
first=$(cd good && echo runs/001-*)
for extra in notes.txt .hidden runs/stray derived/more.csv "$first/regions/x" "$first/notes"; do
  again
  echo x >"bad/$extra"
  names "$extra"
done
again && mkdir bad/empty && names empty
again && ln -s plan.json bad/link && names link
again && mkfifo bad/derived/pipe && names derived/pipe

# Sealed again by a forger: the tables must still follow from the records, the runs from the plan.
seal() {
  (cd bad && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS)
}
for table in summary.csv pid-mapping-summary.csv external-wall-times.csv statistics.csv report.html derived-by.txt; do
  again
  sed -i '$s/$/ /' "bad/derived/$table"
  seal
  expect_exit 4 "$rollcall" verify bad
  grep -q 'derived/' out || fail "a forged $table is not found"
done
again
rm -r bad/runs/002-*
seal
names "$(cd good && echo runs/002-*)/run.json"
again
sed -i 's/"seed": 1/"seed": 2/' bad/plan.json
seal
names environment.json
again
rm bad/plan.json
seal
names plan.json
again
sed -i 's/"fate"/"fat"/' bad/runs/001-*/workers.jsonl
seal
names "$first/workers.jsonl"

# An older version's tables are not held to this version's.
again
sed -i 's/"rollcall_version": "[^"]*"/"rollcall_version": "0.0.1"/' bad/environment.json
echo 'rollcall 0.0.1' >bad/derived/derived-by.txt
echo old >bad/derived/summary.csv
rm bad/derived/report.html
seal
expect_exit 0 "$rollcall" verify bad
grep -q 'derived by rollcall 0.0.1, not compared: .*summary.csv' out || fail "not said that the tables were not compared"

# But not by a version that took no part: that would be a way around.
again
echo 'rollcall 0.0.1' >bad/derived/derived-by.txt
seal
names derived/derived-by.txt

# Unfinished: says how to go on.
again && rm bad/SHA256SUMS
expect_exit 4 "$rollcall" verify bad
grep -q -- '--resume' out || fail "no word on resuming"
expect_exit 4 "$rollcall" verify --json bad
jq -e '.holds == false and .finished == false' out >/dev/null || fail "JSON"

expect_exit 2 "$rollcall" verify nowhere
mkdir no-evidence
expect_exit 2 "$rollcall" verify no-evidence
