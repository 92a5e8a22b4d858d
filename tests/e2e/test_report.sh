#!/usr/bin/env bash
# A report goes into the sealed folder with its line in SHA256SUMS, once; it says the
# same each time; and it refuses what it must not touch.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x4 --topology 4x1 --arm native --arm legacy --runs 2 --out E
cp -r E before

expect_exit 0 "$rollcall" report E
expect_equal "what it prints" "$(cat out)" E/derived/report.html
grep -q '  derived/report.html$' E/SHA256SUMS || fail "no line for the report"
(cd E && sha256sum --check --quiet --strict SHA256SUMS) || fail "the seal is broken"
expect_exit 0 "$rollcall" verify E
grep -v '  derived/report.html$' E/SHA256SUMS | cmp - before/SHA256SUMS || fail "other lines were changed"

# Again: nothing to do. Elsewhere, and from a copy of another name: the same bytes.
cp -r E once
expect_exit 0 "$rollcall" report E
diff -r E once || fail "the second report changed something"
expect_exit 0 "$rollcall" report before --out elsewhere.html
cmp elsewhere.html E/derived/report.html
expect_exit 0 "$rollcall" report before --out -
cmp out elsewhere.html

# One that says something else is not overwritten.
cp -r before other
echo other >other/derived/report.html
(cd other && LC_ALL=C && { grep -v report.html SHA256SUMS; sha256sum derived/report.html; } | sort -k2 >../sums && mv ../sums SHA256SUMS)
expect_exit 2 "$rollcall" report other
expect_one_line "says something else.*nothing is overwritten"
expect_equal "the other report" "$(cat other/derived/report.html)" other
expect_exit 2 "$rollcall" report E --out elsewhere.html
expect_one_line "exists; nothing is overwritten"

# Ended between the document and its line: the next call goes on.
cp -r before half
cp E/derived/report.html half/derived/
expect_exit 0 "$rollcall" report half
cmp half/SHA256SUMS E/SHA256SUMS

# Markdown never goes into the folder.
expect_exit 0 "$rollcall" report before --format md
cp out report.md
grep -q '^| 1x4 | legacy | 2 | 8 | 8 | 0 | 0 | 0 | 0 |$' report.md || { cat report.md >&2; fail "no row of classes"; }
grep -qE '[0-9] ± [0-9.]+ s \|' report.md || fail "no mean ± SD"
for part in "Key result" Performance Interpretation "What this cannot tell" Method Environment "How to derive it again"; do
  grep -qx "## $part" report.md || fail "no part '$part'"
done
expect_exit 0 "$rollcall" report before --format md --out copy.md
cmp copy.md report.md
[ ! -e before/derived/report.html ] || fail "a report was added to the folder"
(cd before && sha256sum --check --quiet --strict SHA256SUMS) || fail "Markdown changed the folder"

# No name of this machine and no place on it, in either.
for text in "$work" "$(uname -n)" "$ROLLCALL_PREFIX"; do
  # As a word: a machine may be called "vm", and "nvml" does not name it.
  ! grep -qwF -- "$text" report.md elsewhere.html || fail "the report names $text"
done

# Unfinished: not without --out, and then it says so.
cp -r before unfinished && rm unfinished/SHA256SUMS
expect_exit 2 "$rollcall" report unfinished
expect_one_line "unfinished.*--out"
[ ! -e unfinished/derived/report.html ] || fail "a report in an unfinished folder"
expect_exit 0 "$rollcall" report unfinished --out unfinished.html
grep -q 'Unfinished experiment' unfinished.html || fail "it does not say that it is unfinished"
! grep -q 'Unfinished experiment' elsewhere.html || fail "a finished one is called unfinished"

# Without the documents beside the runs, as imported logs have it.
cp -r unfinished bare && rm bare/plan.json bare/environment.json
expect_exit 0 "$rollcall" report bare --out bare.html

# Changed evidence.
cp -r before changed
sed -i 's/"repetition": 1/"repetition": 2/' changed/runs/001-*/run.json
expect_exit 4 "$rollcall" report changed --out changed.html
expect_one_line "run.json"
[ ! -e changed.html ] || fail "a report of changed evidence"
expect_exit 2 "$rollcall" report nowhere
expect_one_line "expected an evidence folder"
expect_exit 2 "$rollcall" report E --format pdf
