# The summary says what is not calibrated, and what a file leaves out.
run() { "$CALC" run "$@" 2>/dev/null | sed -n '3,$p' | sed '/^$/,$d'; echo --; }
E=3072_t4_p64_d12_mbs4_full
run gpt3-175B a100_80g $E
run gpt3-175B a100_sxm_80g $E
run gpt3-175B h100_80g_nvl8 $E --set app.causal=true
run llama3-8B mi300x llama3-8B_128_fsdp
run llama3-8B h200 llama3-8B_128_fsdp
sed 's/"source": ".*"/"source": "mine"/' "$ROOT/systems/h200.json" >cluster.json
run llama3-8B cluster.json llama3-8B_128_fsdp
sed '/structure_type/d; /causal/d' "$ROOT/models/llama3-8B.json" >own.json
run own.json h200 llama3-8B_128_fsdp
sed '/causal/d' "$ROOT/models/llama3-8B.json" >own.json
run own.json h200 llama3-8B_128_fsdp
sed 's/"causal": true/"causal": false/' "$ROOT/models/llama3-8B.json" >own.json
run own.json h200 llama3-8B_128_fsdp
run "$ROOT/tests/formats/hf/gpt2.json" h200 llama3-8B_8
