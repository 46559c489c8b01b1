# Kernels of a step, learnt from; then two runs, of which one lacked memory.
calc() { "$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --vocab-size 32000 "$@"; }
calc --profiles "$ROOT/tests/mindspeed/profiles" 2>/dev/null
calc --profiles "$ROOT/tests/mindspeed/profiles" --seed 2 2>/dev/null | grep -A3 step
cat >runs.csv <<'END'
pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,peak_memory,e2e_time
4,1,2,1,1,2,8,0,50,15800
8,1,1,1,1,2,4,0,,oom
END
calc --profiles "$ROOT/tests/mindspeed/profiles" --results runs.csv
calc --results runs.csv --format json --search-algo full_precision 2>/dev/null | grep next
calc --results runs.csv --max-trials 2 2>/dev/null | grep next
calc --results runs.csv --stop-threshold 1 2>/dev/null | grep next
mkdir cache
printf 'type,domains,datasize,time\nall_reduce,8,x,3\n' >cache/comm_prof.csv
calc --profiles cache
calc --profiles nowhere
printf 'pp,tp\n1,1\n' >runs.csv
calc --results runs.csv
printf '{"0": {"time": 1}}' >cache/PP1_TP1_DP8_CP1_UP1_MBS1_VP1_EP0_node0_MODULE.json
rm cache/comm_prof.csv
calc --profiles cache 2>&1 | grep -c missing
