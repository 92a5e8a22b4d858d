#!/usr/bin/env bash
# Bash completes every command and option that --help lists, and no other; the words
# that an option takes; names of arms, classes, profiles and plans; files and folders.
# shellcheck disable=SC2046,SC2164 # words that are meant to be split; lib.sh sets -e
source "$(dirname "$0")/lib.sh"
source "$ROLLCALL_SOURCE/completion/rollcall.bash"

# expect WORDS... : ANSWERS...: what is offered for the last word, in any order. A word
# is given as bash cuts it, "--node" "=" "s".
expect() {
  local -a given=()
  while [ "$1" != : ]; do given+=("$1"); shift; done
  shift
  COMP_WORDS=(rollcall "${given[@]}")
  COMP_CWORD=${#given[@]}
  _rollcall "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  expect_equal "offered for 'rollcall ${given[*]}'" "$(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')" \
    "$(printf '%s\n' "$@" | sort | tr '\n' ' ')"
}

# Commands and options, as the help lists them. It is asked for often: the same texts, from files.
"$ROLLCALL_SOURCE/scripts/golden" --rollcall "$rollcall" --out now
from_files() {
  local name=${*:1:$#-1}
  name=${name:-rollcall}
  cat "$work/now/help/${name// /-}.txt"
}
program=from_files
seen=0
for file in now/help/*.txt; do
  grep -q "^Usage: rollcall" "$file" || continue # other programs have no completion
  read -ra command < <(sed -n 's/^Usage: rollcall *\([a-z -]*\).*/\1/p' "$file")
  mapfile -t options < <(grep -oE '^  (-h,)?--[a-z-]+' "$file" | grep -oE -- '--[a-z-]+')
  [ ${#options[@]} -gt 0 ] || fail "$file lists no option"
  expect "${command[@]}" -- : "${options[@]}"
  mapfile -t commands < <(sed -n '/^Subcommands:/,/^[^ ]/s/^  \([a-z][a-z-]*\) .*/\1/p' "$file")
  [ ${#commands[@]} -eq 0 ] || expect "${command[@]}" "" : "${commands[@]}"
  # The words of an option of the form a|b, in both ways of giving them.
  while IFS=' ' read -r option words; do
    IFS='|' read -ra values <<<"$words"
    expect "${command[@]}" "$option" "" : "${values[@]}"
    expect "${command[@]}" "$option" = : "${values[@]}"
    expect "${command[@]}" "$option" = "${values[0]}" : $(printf '%s\n' "${values[@]}" | grep "^${values[0]}")
    seen=$((seen + 1))
  done < <(grep -oE '^  --[a-z-]+ [a-z]+(\|[a-z]+)+' "$file")
done
[ "$seen" -ge 5 ] || fail "only $seen options with words"
expect run --wor : --workload --worker-timeout
expect s : summarize sim
expect probe hold "" : primary nonprimary
expect run --quiet --runs 3 --hold a : all
expect nonsense "" : ''
expect run --runs "" : ''

# What the help cannot list, as the errors do.
program=$rollcall
listed() { sed -E 's/.*expected (one of )?//; s/;.*//; s/ or /, /; s/, / /g' err; }
expect_exit 2 "$rollcall" run --arm nosuch
expect run --arm "" : $(listed)
expect_exit 2 "$rollcall" run --fail-on nosuch
expect run --fail-on "" : $(listed)
expect run --fail-on peer,e : peer,external
expect run --shim mine = /x --arm m : mine
expect_exit 2 "$rollcall" compare --allow nosuch A B
expect compare --allow "" : $(listed)
cd "$ROLLCALL_SOURCE" # where files have other names than profiles
expect run --profile h : $(cd profiles && basename -s .toml h*)
expect sim exec --profile ins : instant
expect run ha : hami-core

# Files and folders.
cd "$work" && mkdir -p "t/a folder" t/b && touch t/file t/plan.toml
expect run --out t/ : "t/a folder" t/b
expect summarize --input-dir t/ : "t/a folder" t/b
expect compare t/b t/ : "t/a folder" t/b t/file t/plan.toml
expect verify t/f : t/file
expect verify t/file t/ : ''
expect run t/p : t/plan.toml
expect run --shim mine = t/f : t/file
expect doctor --shim t/f : t/file
expect sim exec -- ls t/f : t/file
expect sim exec --gpus 2 -- rea : $(compgen -c rea)

# It does not speak, also where the program is missing.
COMP_WORDS=(rollcall "")
COMP_CWORD=1
expect_equal "output without a program" "$(_rollcall ./none 2>&1)" ""
complete -p rollcall | grep -q -- '-F _rollcall' || fail "it is not registered"
