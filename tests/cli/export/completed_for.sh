# What is completed is what the program runs, and the launcher starts: as calc run does, if they do.
serve="--set inference.phase=serve --set inference.prompt_size=2000 --set inference.generate_size=500"
try()
{
    echo "$*"
    "$CALC" export "$@" --out job 2>&1 | grep -v '^not in'
    grep -cE 'size|degree' job
    rm -f job
}
try --to megatron llama3-70B h200 --procs 64 --batch 512
try --to torchtitan llama3-70B h200 --procs 64 --batch 512
try --to deepspeed llama3-70B h200 --procs 64 --batch 512
# shellcheck disable=SC2086
{
    try --to vllm llama3-70B h200 --procs 16 $serve
    try --to tensorrt-llm llama3-70B h200 --procs 16 $serve
    # Replicas of vLLM on several nodes that share experts are started by no job of llm-d.
    try --to vllm --launcher llm-d --per-node 4 qwen3-235B-A22B h200 --procs 16 $serve --set tp=8
    try --to vllm qwen3-235B-A22B h200 --procs 16 $serve --set tp=8
}
# Nothing to choose.
"$CALC" export --to megatron llama3-8B h200 --procs 1 --batch 1 --set recompute=none --set mbs=1 --out job
