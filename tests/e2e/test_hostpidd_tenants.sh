#!/usr/bin/env bash
# Whoever opens more connections than are its due harms itself alone. Both tenants are the
# same user, in PID namespaces of their own: one keeps 2,000 connections open and is told
# that the broker is busy; the other is served as if nobody were there. The same where all
# places are taken, and where the broker has no file descriptors left.
source "$(dirname "$0")/lib.sh"
source "$ROLLCALL_SOURCE/tests/e2e/broker_lib.sh"
unshare --pid --fork true 2>/dev/null || skip "PID namespaces need root"

busy=485049440001000200000000
own_namespace=(unshare --pid --fork --kill-child)

# holds COUNT: another tenant holds so many connections.
holds() {
  "${own_namespace[@]}" "$client" hold "$socket" "$1" >held &
  others+=($!)
  await grep -qs held held
}
release() {
  kill -KILL "${others[@]}"
  wait "${others[@]}" 2>/dev/null || true
  others=()
}

# In a PID namespace of its own the PID that it is told cannot be its own: it is told the
# host's, and that is what `raw` shows.
served() {
  local answer
  answer=$("${own_namespace[@]}" "$client" raw "$socket" "$1")
  expect_equal "an answer in time ($2)" "${answer:0:16}" 4850494400010000
}

# 1. The bound of a tenant.
start_broker --connection-timeout-ms 5000 --metrics "$PWD/metrics.prom"
holds 2000
for _ in {1..20}; do
  served 4850494400010001 "beside a greedy one"
  served 4850494400010002 "beside a greedy one"
done
# A client that has not sent its request waits, too, and is not put out.
answer=$("${own_namespace[@]}" "$client" raw "$socket" 4850494400010001 50)
expect_equal "a slow client" "${answer:0:16}" 4850494400010000
release
end_broker
[ "$(metric 'hostpidd_refusals_total{cause="tenant_bound"}')" -ge 1488 ] || fail "the greedy tenant was not refused"
expect_equal "others refused" "$(metric 'hostpidd_refusals_total{cause="total_bound"}')" 0
grep -q 'a tenant has as many waiting connections as one may have' broker.err || fail "it does not say so"
[ "$(wc -l <broker.err)" -le 3 ] || fail "its log grows with its clients"

# 2. All places taken: the oldest of the largest tenant goes, and is told.
start_broker --max-connections 100 --max-per-tenant 100 --connection-timeout-ms 20000 --metrics "$PWD/metrics.prom"
holds 99
"${own_namespace[@]}" "$client" raw "$socket" "" >first &
first=$!
others+=("$first")
sleep 0.2
answer=$("${own_namespace[@]}" "$client" raw "$socket" 4850494400010001 20)
expect_equal "a newcomer" "${answer:0:16}" 4850494400010000
release
end_broker
[ "$(metric 'hostpidd_refusals_total{cause="evicted"}')" -ge 1 ] || fail "nobody made room"
[ ! -s first ] || fail "a tenant with one connection was put out: $(cat first)"

# 3. No descriptors: one client at a time is told, and when there are some again, all is well.
start_broker --connection-timeout-ms 20000 --metrics "$PWD/metrics.prom"
used=$(ls "/proc/$broker/fd" | wc -l)
prlimit --pid "$broker" --nofile="$used:"
expect_equal "without descriptors" "$("$client" raw "$socket" 4850494400010001)" "$busy"
expect_equal "without descriptors" "$("$client" raw "$socket" 4850494400010002)" "$busy"
# One for the connection, none for the pidfd.
prlimit --pid "$broker" --nofile="$((used + 1)):"
expect_equal "without a pidfd" "$("$client" raw "$socket" 4850494400010001)" "$busy"
prlimit --pid "$broker" --nofile="$((used + 64)):"
answer=$("$client" raw "$socket" 4850494400010002)
expect_equal "with descriptors again" "${answer:0:16}" 4850494400010000
end_broker
expect_equal "clients turned away" "$(metric 'hostpidd_refusals_total{cause="no_descriptors"}')" 3

rm broker.err
# 4. A hard limit that is too low makes the bounds smaller, and it says so.
(
  ulimit -n 200
  exec "$hostpidd" --socket-dir "$work/run" --view global "${namespace[@]}" 2>broker.err
) &
broker=$!
await grep -qs 'hostpidd: serving' broker.err
grep -q 'at most 200 files may be open' broker.err || fail "it does not say so"
holds 150
served 4850494400010002 "with few descriptors"
release
end_broker
