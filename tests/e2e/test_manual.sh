#!/usr/bin/env bash
# The manual says what the program does, no more and no less: every command and option
# of --help with what it takes, every column of the tables, every key of the records,
# of a plan and of a profile, every reason why a run is invalid. And the pages are well formed.
source "$(dirname "$0")/lib.sh"

man=$ROLLCALL_SOURCE/man
golden=$ROLLCALL_SOURCE/tests/data/golden

# same WHAT: the lists (one entry a line) in the files `said` and `is` are the same.
same() {
  sort -u said >said.sorted
  sort -u is >is.sorted
  [ -s is.sorted ] || fail "$1: nothing to compare"
  diff said.sorted is.sorted >&2 || fail "$1: '<' is in the manual alone, '>' is missing in it"
}

# section PAGE HEADING: the lines under it.
section() {
  awk -v heading="$2" '/^#/ { on = $0 == heading; next } on' "$man/$1.scd"
}

# terms: the words that a page defines: lines in front of an indented text.
terms() {
  awk '/^\t/ && before ~ /^[*]/ { print before } { before = $0 }' | grep -oE '\*[a-z0-9_-]+\*' | tr -d '*'
}

# 1. Commands and options. `rollcall` itself stands in the section OPTIONS.
"$ROLLCALL_SOURCE/scripts/golden" --rollcall "$rollcall" --out now
for file in now/help/*.txt; do
  command=$(sed -n 's/^Usage: \(rollcall\( [a-z][a-z -]*[a-z]\)\{0,1\}\).*/\1/p' "$file")
  # "--topology KxW", and what stands for a positional: "PLAN.toml", or its name where
  # that is a capital, "A".
  awk '/^[A-Z]/ { at = $1 } /^  [^ ]/ { sub(/^  /, ""); sub(/  .*/, "")
    if (at == "Options:" && !/--help/) print
    if (at == "Positionals:") { if (/^[A-Z]/) print $1; else { sub(/^[a-z]* /, ""); print } } }' "$file" | tr -d '[]' >is
  heading="## $command" page=rollcall.1
  [ "$command" != rollcall ] || heading='# OPTIONS'
  # Defaults and what a number may be are not part of an option's name.
  if [ "$(basename "$file")" = hostpidd.txt ]; then
    heading='# OPTIONS' page=hostpidd.8
    sed -E 's/ ([A-Z]+)[:=].*/ \1/' is >names && mv names is
  fi
  grep -qxF -- "$heading" "$man/$page.scd" || fail "$page has no '$heading'"
  section "$page" "$heading" |
    awk '/^\t/ && before ~ /^[*_]/ { print before } { before = $0 }' | grep -v -- --help | tr -d '*_[]' |
    sed 's/, /\n/g' >said || true
  if [ -s is ] || [ -s said ]; then same "options of $command"; fi
done
grep -oE '^## .*' "$man/rollcall.1.scd" | sed 's/^## rollcall //; s/ /-/g' >said
(cd now/help && ls) | sed 's/\.txt$//' | grep -vx 'rollcall\|hostpidd' >is
same "commands"

# 2. Columns of the tables.
for name in $(basename -a now/tables/*/*.csv | sort -u); do
  section rollcall-tables.5 "# $name" | grep -v "^	" | grep -oE '\*[a-z0-9_]+\*' | tr -d '*' >said
  head -qn 1 now/tables/*/"$name" | tr , '\n' >is
  same "columns of $name"
done

# 3. Reasons of invalid runs, as docs/evidence.md has them.
section rollcall-tables.5 '# VALIDITY' | terms >said
awk '/^## / { on = $2 == "Validity" } on' "$ROLLCALL_SOURCE/docs/evidence.md" | sed -n 's/^| `\([a-z_]*\)`.*/\1/p' >is
same "reasons"

# 4. Keys of the records: the golden ones have them all but a few, which the tests of
# the records name.
{ section rollcall-evidence.5 '# run.json' | terms; section rollcall-evidence.5 '# workers.jsonl' | terms; } >said
{
  jq -r 'paths | map(strings) | .[-1] // empty' "$golden"/records/*/runs/*/run.json "$golden"/records/*/runs/*/workers.jsonl
  sed -nE 's/.*(reader\.[a-z_<>A-Z]+|reader\.has)\("([a-z_]+)".*/\2/p' \
    "$ROLLCALL_SOURCE/src/evidence/run_record.cc" "$ROLLCALL_SOURCE/src/evidence/worker_record.cc"
} | grep -vxE 'code|detail' >is
same "keys of the records"

# 5. Keys of a plan and of a profile: those that the manual names are accepted, and a
# key that the source knows is named.
{ section rollcall-plan.5 '# THE TABLE [study]' | terms | tr - _; section rollcall-plan.5 '# THE TABLES [arm.NAME]' | terms; } >said
grep -oE '\{"[a-z_]+",|== "env"' "$ROLLCALL_SOURCE/src/study/plan_file.cc" | grep -oE "[a-z_]+" | grep -vx study >is
same "keys of a plan"
awk '/^\t/ && before ~ /^[*]/ { print before } { before = $0 }' "$man/rollcall-profile.5.scd" |
  grep -oE '\*[a-z0-9_]+\*' | tr -d '*' >said
sed -nE 's/.*reader\.(text|integer|number|count|boolean|choice)\("([a-z_]+)".*/\2/p; s/.*top\.(text|number)\("([a-z_]+)".*/\2/p' \
  "$ROLLCALL_SOURCE/src/simgpu/profile.cc" >is
same "keys of a profile"
# The examples are plans and profiles.
sed -n '/^# EXAMPLE/,/^# /{/^```/,/^```/{/^```/d;s/\\\\/\\/g;p}}' "$man/rollcall-profile.5.scd" >two.toml
expect_exit 0 "$rollcall" sim exec --profile ./two.toml --time-scale 0.01 -- true
sed -n '/^# EXAMPLE/,/^# /{/^```/,/^```/{/^```/d;s/\\\\/\\/g;p}}' "$man/rollcall-plan.5.scd" |
  sed "s|libmine.so|$ROLLCALL_TEST_BIN/libforeign_shim.so|; s|\"10x5\"|\"1x2\"|; s|\"1x50\"|\"2x1\"|" >plan.toml
expect_exit 0 "$rollcall" run plan.toml "${quick[@]}" --arm native --runs 1 --out example

# 6. The pages, as built.
[ -d "$ROLLCALL_PREFIX/share/man" ] || skip "the manual was not built: there is no scdoc"
for page in "$ROLLCALL_PREFIX"/share/man/man*/*; do
  [ -s "$page" ] || fail "$page is empty"
  ! command -v groff >/dev/null || groff -Kutf8 -man -ww -z -Tutf8 "$page" 2>complaints || true
  [ ! -s complaints ] || { cat complaints >&2; fail "$(basename "$page") is not well formed"; }
done
[ "$(ls "$ROLLCALL_PREFIX"/share/man/man*/* | wc -l)" -eq "$(ls "$man"/*.scd | wc -l)" ] || fail "a page was not built"
