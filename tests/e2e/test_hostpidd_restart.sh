#!/usr/bin/env bash
# Ten restarts under load, by TERM and by KILL: no client ever gets another PID than its
# own, none that asked a second time went without, and by TERM nobody even has to ask again.
source "$(dirname "$0")/lib.sh"
source "$ROLLCALL_SOURCE/tests/e2e/broker_lib.sh"

start_broker
clients=()
# retries: how often anybody has asked again so far.
retries() {
  cat client.* | awk '{ n += $4 } END { print n + 0 }'
}
# pass: each client has come through since (two restarts at once would be two retries).
pass() {
  local i
  for i in 1 2 3 4; do
    await eval '[ "$(wc -l <client.'"$i"')" -gt '"$(wc -l <"client.$i")"' ]'
  done
}
for i in 1 2 3 4; do
  (while [ ! -e enough ]; do "$client" ask "$socket" $((i % 2 + 1)) 50; done) >"client.$i" 2>>"trouble.$i" &
  clients+=($!)
done
others=("${clients[@]}")
for restart in 1 2 3 4 5 6 7 8 9 10; do
  pass
  before=$(retries)
  if [ $((restart % 2)) -eq 0 ]; then
    end_broker
    start_broker
    pass
    expect_equal "retries over a restart by TERM" "$(retries)" "$before"
  else
    kill -KILL "$broker"
    wait "$broker" || true
    start_broker
    pass
  fi
done
: >enough
wait "${clients[@]}" || fail "a client was told a wrong PID: $(cat client.*)"
others=()
end_broker
[ "$(cat client.* | grep -c '^right')" -ge 10 ] || fail "too few clients asked: $(cat client.*)"
sort trouble.* | uniq -c >trouble
! grep -vE '^right [0-9]+ retried [0-9]+ failed 0 wrong 0$' client.* || fail "a client went without its PID: $(cat trouble)"

# Whoever had connected when it was told to end is answered, also those whom it had not met.
start_broker
kill -STOP "$broker"
for i in {1..200}; do
  "$client" raw "$socket" 4850494400010001 >"last.$i" &
  others+=($!)
done
connected() {
  [ "$(grep -cF "$work/run/" /proc/net/unix)" -gt 200 ]
}
await connected
kill -TERM "$broker"
kill -CONT "$broker"
end_broker
wait "${others[@]}"
others=()
expect_equal "answered at the end" "$(grep -c ^4850494400010000 last.* | grep -c ':1$')" 200
