#!/usr/bin/env bash
# Logs that were cut, garbled, mixed or are no logs at all: what can be read is read, what
# cannot is counted and told, and nothing is taken for a result.
source "$(dirname "$0")/lib.sh"

layout='{arm}-{topology}-run{run}/cache_{cache}.log'
import() { # STATUS NAME OPTION...
  local status=$1 name=$2
  shift 2
  expect_exit "$status" "$rollcall" import hami-logs --input-dir in --layout "$layout" --out "$name" "$@"
}
say() { printf '[HAMI-core Info(%d:1403149:utils.c:1)]: %s' "$1" "$2"; }
fresh() { rm -rf in && mkdir -p in/hami-1x2-run1; }
log=in/hami-1x2-run1/cache_0.log
mapping() { column "$1/derived/pid-mapping-summary.csv" class | tr '\n' ' '; }
counted() { jq -r ".runs[0].logs[0].$2" "$1/import.json"; }

# Other programs, CRLF, a hole of NUL bytes, a line of 200 MB, a line cut at the end.
fresh
{
  printf 'some program: hello\n'
  say 11 "Initializing....."$'\r\n'
  head -c 5000 /dev/zero
  say 12 "hostPid=11"$'\r\n'
  head -c 200000000 /dev/zero | tr '\0' x
  printf '\n'
  say 11 "hostPid=11"$'\n'
  printf '\n{"other":"json"}\n'
  say 11 "merge pi"
} >$log
import 0 odd
expect_equal "classes" "$(mapping odd)" "self peer "
expect_equal "lines" "$(counted odd lines)" 8
expect_equal "lines of others" "$(counted odd other_lines)" 3
expect_equal "lines too long" "$(counted odd long_lines)" 1
expect_equal "lines cut" "$(counted odd cut_lines)" 1
expect_equal "NUL bytes" "$(counted odd nul_bytes)" 5000
grep -q "not understood, of 8 lines: 1 line cut or run into another, 1 line too long, 3 lines of other programs, 5000 NUL bytes" out ||
  fail "what was not understood is not told"
cmp $log odd/runs/*/logs/cache_0.log

# The last word was cut: what was said before it is not believed.
fresh
{ say 11 "hostPid=12"$'\n'; say 12 "hostPid=12"$'\n'; say 11 "hostPid=1"; } >$log
import 0 cut
expect_equal "classes" "$(mapping cut)" "unresolved self "

# Nobody spoke; too many did; an empty log; an arm that should have no shim.
fresh && : >$log
import 3 empty
expect_equal "classes" "$(mapping empty)" "unresolved unresolved "
expect_equal "reasons" "$(reasons empty)" records_missing
fresh && for pid in 11 12 13; do say $pid "hostPid=$pid"$'\n'; done >$log
import 3 crowd
expect_equal "reasons" "$(reasons crowd)" "records_missing;too_many_speakers"
fresh && mv in/hami-1x2-run1 in/native-1x2-run1 && say 11 x$'\n' >in/native-1x2-run1/cache_0.log
import 3 leak
expect_equal "reasons" "$(reasons leak)" "nothing_observed;shim_in_native_arm"

# In place of a log: a folder, a FIFO, a symbolic link; and names that are no UTF-8.
fresh && mv in/hami-1x2-run1 in/hami-5x1-run1
say 11 "hostPid=11"$'\n' >in/hami-5x1-run1/cache_0.log
mkdir in/hami-5x1-run1/cache_1.log && mkfifo in/hami-5x1-run1/cache_2.log
ln -s cache_0.log in/hami-5x1-run1/cache_3.log
: >in/hami-5x1-run1/cache_4.log
mkdir "in/h"$'\xff'"-1x1-run1" && : >"in/h"$'\xff'"-1x1-run1/cache_0.log"
ln -s . in/loop
import 3 places
expect_equal "skipped" "$(jq '.skipped | length' places/import.json)" 4
grep -q "cache_2.log: not a regular file" out || fail "the FIFO is not named"
grep -q "cache_3.log: a symbolic link" out || fail "the link is not named"
expect_equal "classes" "$(mapping places)" "self unresolved unresolved unresolved unresolved "

# A region that cannot be read leaves the log alone; one that differs contradicts it.
fresh && { say 11 "hostPid=11"$'\n'; say 12 "hostPid=12"$'\n'; } >$log
printf 'garbage' >in/hami-1x2-run1/cache_0.region
regions='{arm}-{topology}-run{run}/cache_{cache}.region'
import 0 foreign --regions "$regions"
grep -q "cache_0.region: region_foreign" out || fail "the region is not named"
expect_equal "source" "$(column foreign/derived/pid-mapping-summary.csv source | sort -u)" hami-core-log
region=in/hami-1x2-run1/cache_0.region
truncate -s 0 $region && truncate -s 2008953 $region
put() { printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16 & 255)) $(($2 >> 24 & 255)))" |
  dd of=$region bs=1 seek="$1" conv=notrunc status=none; }
put 0 19920718 && put 4 1 && put 8 2
put 1856 11 && put 1860 11 && put $((1856 + 1960)) 12 && put $((1860 + 1960)) 11
import 0 differ --regions "$regions"
expect_equal "classes" "$(mapping differ)" "self unresolved "

# Wrong usage: one line each, and no folder.
refuse() { # PATTERN OPTION...
  local pattern=$1
  shift
  expect_exit 2 "$rollcall" import hami-logs --input-dir in --out E "$@"
  expect_one_line "$pattern"
  [ ! -e E ] || fail "a folder was made"
}
refuse "character 7: unknown variable '\{topolgy\}'.*did you mean 'topology'" --layout '{arm}-{topolgy}/cache_{cache}.log'
refuse "expected \{cache\} or \{worker\} in it" --layout '{arm}-{topology}-run{run}.log'
refuse "no log fits.*'{arm}/{topology}/{cache}'.*for example 'hami/50x5/0'" --layout '{arm}/{topology}/{cache}'
refuse "expected \{cache\} in it: each cache has a region" --layout "$layout" --regions 'x.region'
refuse "\{run\}.*the layout does not have it" --layout '{arm}-{topology}-run1/cache_{cache}.log' --truth '{run}.csv'
refuse "there is no such file for the run 1x2 hami 1" --layout "$layout" --truth 'workers.csv'
refuse "expected one of none, pid" --layout "$layout" --isolation pidd
printf 'slot,cache,pid\n0,0,x\n' >in/w.csv
refuse "w.csv:2: pid" --layout "$layout" --truth 'w.csv'
cp $log in/hami-1x2-run1/cache_00.log
refuse "cache_00.log.*stands for the same as.*cache_0.log|cache_0.log.*stands for the same as" --layout "$layout"
rm in/hami-1x2-run1/cache_00.log && cp $log in/hami-1x2-run1/cache_1.log
refuse "cache 1, but 1x2 has the caches 0 to 0" --layout "$layout"
expect_exit 2 "$rollcall" import hami-logs --input-dir nowhere --layout "$layout" --out E
expect_one_line "expected a folder with logs"
expect_exit 2 "$rollcall" import hami-logs --input-dir in --layout "$layout" --out odd
expect_one_line "exists; nothing is overwritten"
