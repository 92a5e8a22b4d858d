#!/usr/bin/env bash
# The node broker, byte by byte: what it answers to right and wrong requests, that it waits
# for nobody for ever, that it counts all that, and that it is alone at its place and leaves
# nothing behind.
source "$(dirname "$0")/lib.sh"
source "$ROLLCALL_SOURCE/tests/e2e/broker_lib.sh"

start_broker --connection-timeout-ms 300 --metrics "$PWD/metrics.prom"

# 1. Where it is found, and by whom it can be changed.
expect_equal "mode of the directory" "$(stat -c %a run)" 711
expect_equal "mode of the socket" "$(stat -c %a run/broker.sock)" 666
expect_equal "mode of the lock" "$(stat -c %a run/hostpidd.lock)" 600
grep -q "^NoNewPrivs:	1" "/proc/$broker/status" || fail "it could gain privileges"
if ! nm -D "$hostpidd" | grep -q __tsan_init; then
  grep -q "^Seccomp:	2" "/proc/$broker/status" || fail "it has no filter of system calls"
fi
for set in CapPrm CapEff CapBnd; do
  caps=$(sed -n "s/^$set:	*//p" "/proc/$broker/status")
  # Only CAP_SYS_PTRACE, bit 19, may be left.
  [ $((0x$caps & ~0x80000)) -eq 0 ] || [ "$(id -u)" -ne 0 ] || fail "$set is $caps"
done

# 2. Right requests. raw prints its answer; its own PID is the one of the subshell's exec.
pid_of() { echo $((16#${1:16:8})); }
answer=$(bash -c 'echo $$ >pid; exec "$0" raw "$1" 4850494400010001' "$client" "$socket")
expect_equal "command 1" "${answer:0:16}" 4850494400010000
expect_equal "length of it" ${#answer} 24
expect_equal "PID of it" "$(pid_of "$answer")" "$(cat pid)"
answer=$(bash -c 'echo $$ >pid; cut -d" " -f22 /proc/$$/stat >start; exec "$0" raw "$1" 4850494400010002' "$client" "$socket")
expect_equal "command 2" "${answer:0:16}" 4850494400010000
expect_equal "length of it" ${#answer} 104
expect_equal "PID of it" "$(pid_of "$answer")" "$(cat pid)"
expect_equal "view and reserved field" "${answer:24:16}" 0000000100000000
expect_equal "start time" $((16#${answer:40:16})) "$(cat start)"
expect_equal "PID namespace" $((16#${answer:56:16})) "$(stat -L -c %i /proc/self/ns/pid)"
expect_equal "boot id" "${answer:72:32}" "$(tr -d - </proc/sys/kernel/random/boot_id)"

# 3. In pieces, and with the client's side ended.
answer=$("$client" raw "$socket" 4850494400010001 10)
expect_equal "in pieces" "${answer:0:16}" 4850494400010000
answer=$("$client" raw "$socket" 4850494400010002 shut)
expect_equal "half closed" "${answer:0:16}" 4850494400010000

# 4. Wrong ones: status 1, no PID, closed at once.
invalid=485049440001000100000000
wrong=(
  4850494500010001         # another magic
  4850494400020001         # another version
  4850494400010000 4850494400010003 4850494400010101 # other commands
  48504944000100010a       # a byte too many
  485049440001000248504944 # the beginning of another
  "$(printf '00%.0s' {1..2000})" 00
)
for bytes in "${wrong[@]}"; do
  expect_equal "answer to ${bytes:0:40}" "$("$client" raw "$socket" "$bytes")" "$invalid"
done
expect_equal "wrong in its second piece" "$("$client" raw "$socket" 48504944000100ff 5)" "$invalid"

# 5. Nobody keeps a place: silent, unfinished and too slow ones are closed without an answer.
expect_equal "silent" "$("$client" raw "$socket" "")" ""
expect_equal "unfinished" "$("$client" raw "$socket" 48504944)" ""
expect_equal "too slow" "$("$client" raw "$socket" 4850494400010001 100)" ""
expect_equal "hung up" "$("$client" raw "$socket" 48504944 shut)" ""

# 6. --check asks both questions.
expect_exit 0 "$hostpidd" --check --socket "$socket"
grep -q '^NVML view: global$' out || fail "the view is not told: $(cat out)"
expect_equal "its PID namespace" "$(sed -n 's/^PID namespace: //p' out)" "$(stat -L -c %i /proc/self/ns/pid)"
grep -qxF "libhostpid: uses it where user $(id -u) is trusted" out || fail "libhostpid would not use it: $(cat out)"
expect_exit 1 "$hostpidd" --check --socket "$work/nowhere.sock"
expect_one_line 'nowhere.sock: cannot connect: No such file'

chmod 777 run
expect_exit 1 "$hostpidd" --check --socket "$socket"
expect_one_line 'libhostpid does not use it .broker_untrusted'
chmod 711 run

# 7. It is alone.
expect_exit 1 "$hostpidd" --socket-dir "$work/run" --view global "${namespace[@]}"
expect_one_line 'another hostpidd holds this lock'

# 8. The end: what it counted, and nothing left but the lock.
end_broker
expect_equal "what is left" "$(ls run)" hostpidd.lock
expect_equal "the last line" "$(tail -n 1 metrics.prom)" "# EOF"
expect_equal "requests" "$(metric 'hostpidd_requests_total{command="pid",status="ok"}')" 4
expect_equal "extended ones" "$(metric 'hostpidd_requests_total{command="extended",status="ok"}')" 5
expect_equal "answers" "$(metric hostpidd_answer_seconds_count)" 9
expect_equal "invalid ones" "$(metric 'hostpidd_refusals_total{cause="invalid"}')" $((${#wrong[@]} + 1))
expect_equal "too late ones" "$(metric 'hostpidd_refusals_total{cause="timeout"}')" 3
expect_equal "hung up" "$(metric 'hostpidd_refusals_total{cause="hang_up"}')" 1
expect_equal "connections" "$(metric hostpidd_connections_accepted_total)" $((9 + ${#wrong[@]} + 1 + 4))
[ ! -e metrics.prom.tmp ] || fail "a temporary metrics file is left"

# 9. A socket that a killed broker left is replaced, one that it did not make is not.
start_broker --compat-path "$work/compat/broker.sock"
for path in "$socket" "$work/compat/broker.sock"; do
  answer=$("$client" raw "$path" 4850494400010001)
  expect_equal "at $path" "${answer:0:16}" 4850494400010000
done
kill -KILL "$broker"
wait "$broker" || true
[ -S run/broker.sock ] || fail "a killed broker cannot have removed its socket"
start_broker
expect_exit 0 "$hostpidd" --check --socket-dir "$work/run"
end_broker
: >run/broker.sock
expect_exit 1 "$hostpidd" --socket-dir "$work/run" --view global "${namespace[@]}"
expect_one_line 'not a socket of ours'
[ -f run/broker.sock ] || fail "it removed a file that it had not made"
rm run/broker.sock

# 10. Directories that cannot be trusted.
mkdir -m 777 loose
expect_exit 1 "$hostpidd" --socket-dir "$work/loose" --view global "${namespace[@]}"
expect_one_line 'others may write to this directory'
ln -s run link
expect_exit 1 "$hostpidd" --socket-dir "$work/link" --view global "${namespace[@]}"
expect_one_line 'symbolic link'
if [ "$(id -u)" -eq 0 ]; then
  mkdir -m 711 foreign
  chown 12345 foreign
  expect_exit 1 "$hostpidd" --socket-dir "$work/foreign" --view global "${namespace[@]}"
  expect_one_line 'expected a directory of user 0, found one of user 12345'
fi
expect_exit 2 "$hostpidd" --socket-dir relative --view global "${namespace[@]}"
expect_exit 2 "$hostpidd" --view sideways --socket-dir "$work/run" "${namespace[@]}"
expect_exit 2 "$hostpidd" --socket "$socket"

# 11. A log that nobody reads does not stop it, though it has something to say.
mkfifo stalled
exec 8<>stalled
"$hostpidd" --socket-dir "$work/run" --view global --max-per-tenant 1 --connection-timeout-ms 60000 "${namespace[@]}" 2>&8 8>&- &
broker=$!
await_greeting() { timeout 1 head -c 9 <&8 | grep -q hostpidd; }
await await_greeting
dd if=/dev/zero of=stalled bs=4096 oflag=nonblock 2>/dev/null || true
"$client" hold "$socket" 2 >held 8>&- &
others+=($!)
await grep -qs held held
answer=$(timeout 20 "$client" raw "$socket" 4850494400010001) || true
# That it is busy is an answer, too: the places of this tenant are taken.
expect_equal "an answer with a stalled log" "${answer:0:12}" 485049440001
kill -KILL "${others[@]}"
wait "${others[@]}" 2>/dev/null || true
others=()
exec 8>&-
end_broker
