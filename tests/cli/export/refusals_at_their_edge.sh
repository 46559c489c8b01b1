# Each rule of a framework beside what it allows: the smallest change that it refuses, by its text.
cat >dense.json <<'EOF'
{"hidden": 1024, "seq_size": 1024, "num_blocks": 8, "attn_heads": 16, "kv_heads": 8, "attn_size": 64, "feedforward": 4096,
 "structure_type": "llama", "causal": true, "vocab_size": 32000}
EOF
sed 's/"vocab_size"/"num_experts": 8, "experts_per_token": 2, "expert_feedforward": 1024, "vocab_size"/' dense.json >moe.json
E=$ROOT/executions
sed 's/"batch_size": 64/"batch_size": 8/; /"kv_datatype"/d' "$E/llama3-70B_serving_8.json" >serve.json
sed 's/"tensor_par": 1/"tensor_par": 2/; s/"pipeline_par": 1/"pipeline_par": 2/; s/"data_par": 4/"data_par": 2/; s/"batch_size": 128/"batch_size": 16/; s/"ar"/"rs_ag"/
     /context_par/d; s/"zero_stage": 1/"zero_stage": 3/; /grad_datatype/d' "$E/llama3-8B_8.json" >train.json
# both FRAMEWORK APP EXE ALLOWED... -- REFUSED...: what is said of the allowed fields, and of them with the others
both() {
    local framework=$1 app=$2 exe=$3 fine=() wrong=()
    shift 3
    while [ "$1" != -- ]; do fine+=(--set "$1"); shift; done
    shift
    for field; do wrong+=(--set "$field"); done
    "$CALC" export --to "$framework" "$app" "$exe" "${fine[@]}" >out 2>&1 && echo "$framework ${*}: written without" || { echo "WRONG"; cat out; }
    "$CALC" export --to "$framework" "$app" "$exe" "${fine[@]}" "${wrong[@]}" 2>&1 >/dev/null | grep -v '^  hint'
}
for engine in vllm sglang tensorrt-llm; do
    both $engine dense.json serve.json -- context_par=2 num_procs=16
    both $engine dense.json serve.json -- tensor_par_overlap=ring tensor_par_comm_type=rs_ag
    both $engine dense.json serve.json tensor_par=16 num_procs=16 -- tensor_par=3 num_procs=3
    both $engine dense.json serve.json inference.kv_datatype=float8 -- inference.kv_datatype=float16
done
both vllm moe.json serve.json expert_par=8 -- expert_par=4
both vllm moe.json serve.json expert_par=1 expert_tensor_par=8 -- expert_par=2 expert_tensor_par=4
for page in 8 16 32 64 128; do both vllm dense.json serve.json inference.page_size=$page -- inference.page_size=$((page + 1)); done
both sglang moe.json serve.json tensor_par=4 data_par=2 expert_par=4 -- expert_par=2
both sglang moe.json serve.json tensor_par=4 data_par=2 expert_par=8 -- expert_par=2
both sglang dense.json serve.json inference.page_size=64 -- inference.page_size=48
both sglang dense.json serve.json tensor_par=4 pipeline_par=2 -- inference.speculative_tokens=1
both tensorrt-llm moe.json serve.json tensor_par=1 data_par=8 expert_par=8 -- tensor_par=2 data_par=4
both tensorrt-llm dense.json serve.json tensor_par=8 -- tensor_par=4 data_par=2
both tensorrt-llm moe.json serve.json expert_par=8 -- expert_par=4
both tensorrt-llm dense.json serve.json inference.page_size=64 -- inference.page_size=48
both deepspeed dense.json train.json tensor_par=1 pipeline_par=1 data_par=8 weight_offload=true -- zero_stage=2
both deepspeed dense.json train.json tensor_par=1 pipeline_par=1 data_par=8 zero_stage=1 optimizer_offload=true -- zero_stage=0 optimizer_sharding=false
both deepspeed dense.json train.json tensor_par=1 pipeline_par=1 data_par=8 fsdp_par=4 -- zero_stage=2
both torchtitan llama3-8B train.json pipeline_par=1 context_par=2 -- zero_stage=0 optimizer_sharding=false
both torchtitan llama3-8B train.json pipeline_par=1 context_par=2 -- fsdp_par=1
both torchtitan llama3-8B train.json pipeline_interleaving=2 -- pipeline_interleaving=3
both torchtitan llama3-8B train.json pipeline_interleaving=2 -- pipeline_balance=ends
both torchtitan llama3-8B train.json pipeline_interleaving=2 batch_size=12 -- batch_size=10
both mindformers dense.json train.json context_par=2 num_procs=16 zero_stage=0 -- flash_attention=false
