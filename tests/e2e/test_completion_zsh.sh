#!/usr/bin/env bash
# Zsh completes the same: asked in a real shell on a pseudo terminal, what it finds when
# the tabulator is pressed.
source "$(dirname "$0")/lib.sh"
command -v zsh >/dev/null || skip "there is no zsh"

zsh -n "$ROLLCALL_SOURCE/completion/_rollcall"
"$ROLLCALL_SOURCE/scripts/golden" --rollcall "$rollcall" --out now
mkdir t t/folder && touch t/file t/plan.toml
# It is asked for often: the same texts, from files.
mkdir bin share && ln -s "$ROLLCALL_PREFIX/share/rollcall" share/rollcall
cat >bin/rollcall <<'SH'
#!/bin/bash
name=${*:1:$#-1}
name=${name:-rollcall}
exec cat "${0%/bin/*}/now/help/${name// /-}.txt"
SH
chmod +x bin/rollcall

# For each line of standard input, the matches at its end, sorted, on one line.
cat >press.zsh <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2=; stty -echo -onlcr; unset zle_bracketed_paste; unsetopt auto_menu auto_list
fpath=($1 \$fpath) path=($2 \$path); autoload -Uz compinit && compinit -u -D
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd \"\$@\"; return; fi
  local -a found; builtin compadd -A found \"\$@\"
  print -rl -- \"\" \"<\${^found[@]}>\"; builtin compadd \"\$@\"
}
ask() { zle complete-word; print -r -- \"\"; print -r -- '<<done>>'; }
zle -N ask; bindkey '^I' ask; print RE''ADY"
zpty -r shell out '*READY*'
while IFS= read -r line; do
  zpty -w -n shell "$line"$'\t'
  zpty -r shell out '*<<done>>*'
  matches=(${(M)${(f)${out//$'\r'/}}:#\<[^<]*\>})
  matches=(${${matches#\<}%\>})
  print -r -- ${(ou)matches}
  zpty -w -n shell $'\C-u'
done
zpty -d shell
ZSH

# Lines to ask, and the answers expected, side by side.
expect() { # LINE : ANSWERS...
  printf '%s\n' "$1" >>lines
  shift 2
  [ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort -u | paste -sd ' ' >>expected
  [ $# -ne 0 ] || echo >>expected
}
for file in now/help/*.txt; do
  grep -q "^Usage: rollcall" "$file" || continue # other programs have no completion
  command=$(sed -n 's/^Usage: rollcall *\([a-z -]*[a-z]\).*/\1/p' "$file")
  command="rollcall${command:+ $command}"
  mapfile -t options < <(grep -oE '^  (-h,)?--[a-z-]+' "$file" | grep -oE -- '--[a-z-]+')
  expect "$command --" : "${options[@]}"
  mapfile -t commands < <(sed -n '/^Subcommands:/,/^[^ ]/s/^  \([a-z][a-z-]*\) .*/\1/p' "$file")
  [ ${#commands[@]} -eq 0 ] || expect "$command " : "${commands[@]}"
  while IFS=' ' read -r option words; do
    IFS='|' read -ra values <<<"$words"
    expect "$command $option " : "${values[@]}"
    expect "$command $option=" : "${values[@]}"
  done < <(grep -oE '^  --[a-z-]+ [a-z]+(\|[a-z]+)+' "$file")
done
expect 'rollcall probe hold ' : primary nonprimary
expect 'rollcall run --arm n' : native native-context nvml-only
expect 'rollcall run --shim mine=/x --arm m' : mine
expect 'rollcall run --fail-on peer,e' : external
expect 'rollcall compare --allow gpu' : gpu gpus
expect 'rollcall verify t/f' : file folder
expect 'rollcall run --profile i' : instant
expect 'rollcall run ha' : hami-core
expect 'rollcall run --out t/' : folder
expect 'rollcall run t/p' : plan.toml
expect 'rollcall run --shim mine=t/f' : file folder
expect 'rollcall sim exec -- readl' : readlink

timeout 120 zsh -f press.zsh "$ROLLCALL_SOURCE/completion" "$work/bin" <lines >answers
paste -d '\n' lines expected >said
paste -d '\n' lines answers >is
diff said is >&2 || fail "'<' was expected, '>' was offered"
