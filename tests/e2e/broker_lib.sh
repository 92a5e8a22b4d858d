# shellcheck shell=bash disable=SC2034,SC2154 # used by those who source it
# What the tests of hostpidd share, on top of lib.sh: starting one and ending it.
hostpidd=$ROLLCALL_PREFIX/bin/hostpidd
client=$ROLLCALL_TEST_BIN/broker_client
namespace=()
[ "$(stat -L -c %i /proc/self/ns/pid)" = 4026531836 ] || namespace=(--namespace-is-host)

socket=$work/run/broker.sock
broker=
others=()
trap 'end_all; cd /; rm -rf "$work"' EXIT

end_all() {
  local pid
  for pid in $broker "${others[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
}

# start_broker [OPTION...]: its PID in $broker, what it says in broker.err.
start_broker() {
  rm -f broker.err # what the last one said
  "$hostpidd" --socket-dir "$work/run" --view global "${namespace[@]}" "$@" 2>broker.err &
  broker=$!
  await grep -qs 'hostpidd: serving' broker.err
}

# end_broker: by TERM, and it ended well.
end_broker() {
  local status=0
  kill -TERM "$broker"
  wait "$broker" || status=$?
  broker=
  [ "$status" -eq 0 ] || { cat broker.err >&2; fail "hostpidd ended with status $status"; }
}

# metric NAME: its value in metrics.prom.
metric() {
  grep -F -- "$1 " metrics.prom | sed 's/.* //'
}
