# The data of each page, and documents of JSON: every member, how often it comes, and the sum of what it says. A build without D3 has no pages.
without=(program elapsed_s cpu evaluations_per_second evaluations_per_second_per_core execution system application base machines)
members()
{
    echo "== $1"
    "$CALC" "$@" > out 2> errors || cat errors
    python3 "$ROOT/tests/cli/walk.py" made "${without[@]}"
}
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --html page.html > out 2> errors
if grep -q 'built without the library of charts' errors; then
    cat "$ROOT/tests/cli/report/members.stdout"
    exit
fi
members run llama3-405B h100_sxm llama3-405B_8192 --html made
members run llama3-70B h200 llama3-70B_serving_8 --html made
members sweep gpt3-13B a100_80g --procs 8 --batch 8 --axis microbatch_size=1 --no-prune --progress none --threads 1 --top 2 --html made
members plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs 16 --batch 32 --axis pp=4 --axis tp=4 --axis microbatch_size=1 \
    --axis pipeline_interleaving=1 --set num_blocks=8 --time-limit 1000 --progress none --html made
members tune llama2-7B a100_80g --procs 8 --batch 64 --axis microbatch_size=1 --candidates 6 --simulate 3 --most 3 --progress none --html made
members rl qwen3-8B h100_sxm grpo --procs 16 --rollout-procs 8 --set prompts=32 --json made
members rl qwen2.5-7B h20 dapo_async --procs 16 --sweep --top 3 --json made
members plan llama3.2-1B h100_sxm --procs 4 --batch 8 --set num_blocks=8 --set mem1.GiB=8 --all-memory --layers --time-limit 1000 --progress none --out made
members why llama3-8B h100_sxm llama3-8B_8 --json made
members params llama3-8B --json made
cat > ours.csv <<'CSV'
id,model,gpu,num_gpus,tp,software,weight_dtype,isl,osl,concurrency_or_batch,tpot_or_itl_ms
one,llama3-70B,h200,8,8,vllm 0.11.0,fp8,1000,500,16,9
two,llama3-70B,h200,8,8,wllm 0.11.0,fp8,1000,500,16,9
CSV
members validate ours.csv --html made
members validate ours.csv --json made
