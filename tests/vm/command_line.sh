# Runs in the machine (busybox). Its exit status is the number of failed expectations.
failures=0

# expect STATUS TEXT COMMAND...: the command has this exit status, and its output contains the text.
expect() {
  status=$1 text=$2
  shift 2
  output=$("$@" 2>&1)
  got=$?
  case $output in *"$text"*) found=yes ;; *) found=no ;; esac
  if [ "$got" != "$status" ] || [ $found = no ]; then
    echo "NOT MET: $*: status $got, expected $status; output '$output', expected '$text'"
    failures=$((failures + 1))
  fi
}

falafel serve --fabric verbs --name server --memory 16MiB --directory /tmp/falafel > /tmp/ready 2>&1 &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  grep -q "serving 'server' in the network" /tmp/ready && break
  sleep 1
done
store="--fabric verbs --name server --own-address client"
expect 0 '' falafel set $store greeting hello
expect 0 hello falafel get $store greeting
expect 1 'not found' falafel get $store nothing
expect 0 '' falafel del $store greeting
expect 1 'not found' falafel get $store greeting
expect 0 'clients: 0 of 64' falafel stat --name server --directory /tmp/falafel
bench="--fabric verbs --own-address client --keys 500 --seconds 1 --workload ycsb-a"
expect 0 'on verbs (processes): 1 clients' falafel bench $bench --name server
expect 0 'on verbs (threads): 2 clients' falafel bench $bench --threads --clients 2 --in-flight 4
kill $server
wait $server
expect 0 '' test $? = 0
expect 11 'nobody listens there' falafel get $store greeting
expect 2 'there is no RDMA device' falafel get $store --device none greeting
expect 0 'rxe0' falafel doctor
expect 0 'no on-demand paging' falafel doctor
expect 2 '--max-memory: device rxe0 has no on-demand paging' \
  falafel serve --fabric verbs --name server --max-memory 64MiB --directory /tmp/falafel
exit $failures
