# A machine like one that is known, but: the sweep saves it, and a run of it needs no --set.
sweep() { "$CALC" sweep llama3-70B mi300x --procs 64 --batch 128 --top 1 --progress none "$@"; }
sweep --set 'networks[1].bandwidth=25Gb/s' --set price=2.5 --save-sys cluster.json --save-best best.json > /dev/null
"$CALC" run llama3-70B cluster.json best.json --json - | grep total_time > saved
"$CALC" run llama3-70B mi300x best.json --set 'networks[1].bandwidth=25Gb/s' --json - | grep total_time | cmp - saved && echo the same
grep -c '"usd_per_hour": 2.5' cluster.json
sweep --axis sys.mem1.GiB=20,400 --save-sys roomy.json > /dev/null && grep '"mem1"' -A 1 roomy.json
sweep --set sys.mem1.GiB=1 --save-sys none.json > /dev/null 2>&1; ls none.json 2>&1
sweep --save-sys - --save-best - 2>&1
sweep --save-sys - 2> /dev/null | "$CALC" run llama3-70B - best.json --json - | grep -c total_time
true
