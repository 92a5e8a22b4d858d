# shellcheck shell=bash disable=SC2034 # used by those who source it
# What the end-to-end tests share. Sourced, not run. Each test works in a
# temporary folder of its own, prints what it checks, and stops at the first
# thing that is not so. Exit status 77 means that this machine lacks a privilege
# that the test needs.
set -euo pipefail

: "${ROLLCALL_PREFIX:?the build tree}" "${ROLLCALL_TEST_BIN:?}" "${ROLLCALL_SOURCE:?}"
rollcall=$ROLLCALL_PREFIX/bin/rollcall
work=$(mktemp -d "${TMPDIR:-/tmp}/rollcall-e2e-XXXXXX")
cd "$work"
trap 'cd /; rm -rf "$work"' EXIT

# Small and quick, yet slow enough that workers overlap.
quick=(--node sim --time-scale 0.02 --quiet)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

skip() {
  echo "SKIPPED: $*" >&2
  exit 77
}

# expect_exit STATUS COMMAND...: standard output in ./out, standard error in ./err.
expect_exit() {
  local expected=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [ "$status" -eq "$expected" ] || { cat out err >&2; fail "exit status $status, expected $expected: $*"; }
}

# expect_one_line PATTERN: the error was exactly one line and says this.
expect_one_line() {
  [ "$(wc -l <err)" -eq 1 ] || { cat err >&2; fail "expected one line on standard error"; }
  grep -qE -- "$1" err || { cat err >&2; fail "the error does not say '$1'"; }
}

# column FILE NAME: that column of a CSV, one value a line (no quoted commas in ours).
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; if (!c) exit 1; next } { print $c }' "$1"
}

# count_class FOLDER CLASS: workers of that class in all runs.
count_class() {
  column "$1/derived/pid-mapping-summary.csv" class | grep -cx "$2" || true
}

# expect_equal WHAT FOUND EXPECTED
expect_equal() {
  [ "$2" = "$3" ] || fail "$1: found '$2', expected '$3'"
}

# await CONDITION...: until the command succeeds, 30 s at most.
await() {
  local i
  for ((i = 0; i < 600; i++)); do
    if "$@"; then return 0; fi
    sleep 0.05
  done
  fail "waited in vain for: $*"
}

# run_foreign MODE STATUS [OPTION...]: the foreign shim in that mode, read by its log, into
# the folder MODE; the plan stays in plan.toml.
run_foreign() {
  local mode=$1 status=$2
  shift 2
  cat >plan.toml <<TOML
[study]
topologies = ["1x2"]
arms = ["foreign"]
runs = 1
[arm.foreign]
preload = "$ROLLCALL_TEST_BIN/libforeign_shim.so"
cache_env = "FOREIGN_SHIM_CACHE"
identity = "log"
log_assigned = 'foreign\[(?P<own>\d+)\]: I am (?P<assigned>\d+)'
env = { FOREIGN_SHIM_MODE = "$mode" }
TOML
  # By its whole path, under which what it leaves can be recognised.
  expect_exit "$status" "$rollcall" run plan.toml "${quick[@]}" --out "$PWD/$mode" "$@"
}

# reasons FOLDER: why its runs are invalid, a line each.
reasons() {
  column "$1/derived/summary.csv" invalid_reasons
}

# children_of PID NAME: the PIDs of its children of that name.
children_of() {
  pgrep -P "$1" -x "$2" || true
}
