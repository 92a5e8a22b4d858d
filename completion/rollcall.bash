# Completion of rollcall for bash. Commands, options and the words that an option
# takes are read from the program's own --help when they are asked for, so that they
# cannot differ from it. Needs bash alone; works with the bash-completion package,
# which loads it from share/bash-completion/completions, and sourced by hand.
# shellcheck shell=bash

# What --help cannot list, since more is possible than these.
_rollcall_arms='native native-context nvml-only legacy legacy-node-lock tiered'
_rollcall_classes='self peer external discovery_failed unresolved'
_rollcall_fields='node gpu driver view profile time_scale gpus isolation broker workload hold neighbours devices truth cpu cpus kernel'

# _rollcall_section NAME: the first column of that section of the help on standard
# input, a line for each entry ("-h,--help", "--topology KxW", "run").
_rollcall_section() {
  local line in=0
  while IFS= read -r line; do
    case $line in
      "$1:") in=1 ;;
      '  '[!\ ]*) [ $in -eq 0 ] || { line=${line#  }; printf '%s\n' "${line%%  *}"; } ;;
      [!\ ]*) in=0 ;;
    esac
  done
}

# _rollcall_data PROGRAM KIND: names of the plans or profiles that come with it.
_rollcall_data() {
  local program file
  program=$(readlink -f -- "$(type -P -- "$1")") || return 0
  for file in "${program%/*/*}/share/rollcall/$2"/*.toml; do
    [ -e "$file" ] || continue
    file=${file##*/}
    printf '%s ' "${file%.toml}"
  done
}

_rollcall_names() { # WORDS-AS-ONE, adds those that begin as $cur
  local word
  for word in $1; do
    [[ $word != "$cur"* ]] || COMPREPLY+=("$word")
  done
}

_rollcall_paths() { # -f (files) or -d (folders), adds those that begin as $cur
  local path
  compopt -o filenames 2>/dev/null || true
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
}

# _rollcall_values PROGRAM OPTION METAVARIABLE: what the help calls the value tells
# what it may be.
_rollcall_values() {
  case $3 in
    NAME\|FILE) _rollcall_names "$(_rollcall_data "$1" profiles)"; _rollcall_paths -f ;;
    PLAN.toml) _rollcall_names "$(_rollcall_data "$1" plans)"; _rollcall_paths -f ;;
    NAME)
      if [ "$2" = --arm ]; then
        local i
        _rollcall_names "$_rollcall_arms"
        for ((i = 1; i < ${#words[@]}; i++)); do # arms that the command line itself defines
          [[ ${words[i - 1]} != --shim || ${words[i]} != ?*=* ]] || _rollcall_names "${words[i]%%=*}"
          [[ ${words[i]} != --shim=?*=* ]] || { local arm=${words[i]#--shim=}; _rollcall_names "${arm%%=*}"; }
        done
      fi
      ;;
    NAME=PATH)
      if [[ $cur == ?*=* ]]; then
        before+=${cur%%=*}=
        cur=${cur#*=}
        _rollcall_paths -f
      fi
      ;;
    FIELD) _rollcall_names "$_rollcall_fields" ;;
    CLASS,...)
      local kept=
      [[ $cur != *,* ]] || kept=${cur%,*},
      # shellcheck disable=SC2086 # one word each
      _rollcall_names "$(printf "$kept%s " $_rollcall_classes)"
      compopt -o nospace 2>/dev/null || true
      ;;
    *ARCHIVE* | *FILE* | *PATH* | *CSV*) _rollcall_paths -f ;;
    *DIR* | *EVIDENCE* | A | B) _rollcall_paths -d ;;
    *COMMAND*) ;; # after --, see below
    *[A-Z]* | '') ;;
    *\|*) _rollcall_names "${3//|/ }" ;;
  esac
}

_rollcall() {
  local program=$1 cur=${COMP_WORDS[COMP_CWORD]} before='' i help
  COMPREPLY=()

  # The words as they were typed: bash has cut them at '='.
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == = ]]; then
      words[${#words[@]} - 1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  cur=${words[${#words[@]} - 1]}

  # The command that is named, and its help.
  local -a path=()
  local at=1 next found
  while :; do
    help=$("$program" "${path[@]}" --help 2>/dev/null) || return 0
    next=${words[at]:-}
    found=
    if ((at < ${#words[@]} - 1)); then
      while IFS= read -r i; do [ "$i" != "$next" ] || found=1; done < <(_rollcall_section Subcommands <<<"$help")
    fi
    [ -n "$found" ] || break
    path+=("$next")
    at=$((at + 1))
  done

  # Its options: those that take a value, with what the help calls it.
  local -A takes=()
  local -a options=()
  local entry name
  while IFS= read -r entry; do
    name=${entry%% *}
    name=${name#-h,}
    options+=("$name")
    [[ $entry != *' '* ]] || takes[$name]=${entry#* }
  done < <(_rollcall_section Options <<<"$help")

  # What stands before the word that is completed.
  local waiting='' positionals=0
  for ((i = at; i < ${#words[@]} - 1; i++)); do
    if [ -n "$waiting" ]; then
      waiting=
    elif [ "${words[i]}" = -- ]; then
      # The words of another program.
      if ((i == ${#words[@]} - 2)); then
        while IFS= read -r entry; do COMPREPLY+=("$entry"); done < <(compgen -c -- "$cur")
      fi
      _rollcall_paths -f
      return 0
    elif [[ ${words[i]} == --*=* ]]; then
      :
    elif [[ ${words[i]} == -* ]]; then
      [ -z "${takes[${words[i]}]:-}" ] || waiting=${words[i]}
    else
      positionals=$((positionals + 1))
    fi
  done

  if [ -n "$waiting" ]; then
    _rollcall_values "$program" "$waiting" "${takes[$waiting]}"
  elif [[ $cur == --*=* ]]; then
    name=${cur%%=*}
    before=$name=
    cur=${cur#*=}
    [ -z "${takes[$name]:-}" ] || _rollcall_values "$program" "$name" "${takes[$name]}"
  elif [[ $cur == -* ]]; then
    _rollcall_names "${options[*]}"
  else
    local -a subcommands places
    if ((positionals == 0)); then
      mapfile -t subcommands < <(_rollcall_section Subcommands <<<"$help")
      _rollcall_names "${subcommands[*]}"
    fi
    mapfile -t places < <(_rollcall_section Positionals <<<"$help")
    if ((positionals < ${#places[@]})); then
      entry=${places[positionals]}
      _rollcall_values "$program" '' "${entry#* }"
    fi
  fi

  # Where bash does not cut words at '=', the whole word is replaced.
  if [[ -n $before && $COMP_WORDBREAKS != *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]/#/$before}")
  fi
  return 0
}

complete -F _rollcall rollcall
