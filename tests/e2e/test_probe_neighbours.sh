#!/usr/bin/env bash
# Neighbours come and go for as long as somebody wants them, and no longer.
source "$(dirname "$0")/lib.sh"

probe=$ROLLCALL_PREFIX/bin/rollcall-probe
# A standard input that does not end.
mkfifo endless
exec 9<>endless
# They are on the node, under ever new PIDs, and the view is told among them or said
# to be unknown: never the wrong one.
expect_exit 0 "$rollcall" sim exec --profile study --time-scale 0.05 --view translated -- bash -c '
  coproc near { exec '"$probe"' neighbours 3; }
  read -r word <&"${near[0]}"; echo "$word"
  for i in $(seq 40); do '"$probe"' processes | jq ".processes[].pid"; done | sort -u | wc -l
  for i in 1 2 3; do '"$probe"' view | jq -r .view; done
  exec {near[1]}>&-; wait "$near_PID"; echo "status $?"
  '"$probe"' processes | jq ".processes | length"'
expect_equal "word" "$(sed -n 1p out)" ready
[ "$(sed -n 2p out)" -gt 3 ] || fail "only $(sed -n 2p out) PIDs were seen"
! sed -n 3,5p out | grep -vE '^(translated|unknown)$' || fail "a wrong view"
expect_equal "end" "$(tail -2 out | tr '\n' ' ')" "status 0 0 "

# SIGTERM ends them as well, and a killed parent takes them along.
for signal in TERM KILL; do
  "$rollcall" sim exec --profile instant -- bash -c '
    '"$probe"' neighbours 2 <&9 >ready & echo $! >pid
    until grep -q ready ready; do sleep 0.05; done
    kill -'$signal' "$(cat pid)"; wait "$(cat pid)"; echo "$?" >status' 2>err
  expect_equal "status after $signal" "$(cat status)" "$([ "$signal" = TERM ] && echo 0 || echo 137)"
  gone() { [ -z "$(children_of "$(cat pid)" rollcall-probe)" ]; }
  await gone
  rm -f ready
done

# A driver that refuses: the reason, after ten attempts.
expect_exit 1 env LD_LIBRARY_PATH="$ROLLCALL_PREFIX/lib/rollcall/sim" "$probe" neighbours 1 <&9
expect_one_line "one failed 10 times in a row: cuInit returned 100"
for n in 0 65 x ""; do expect_exit 2 "$probe" neighbours "$n"; done
