try() {
    "$CALC" as mindspeed "$@"
    echo "$*: $?"
}
script=$ROOT/tests/mindspeed/llama_7b.launch
try
try none.sh
try "$script" "$script"
try "$script" --generation 3
try "$script" --nnodes 0
try "$script" --nnodes x
try "$script" --target-nnodes 4 --generation 1
try "$script" --num-attention-heads 24
try "$script" --nproc-per-node 7 --global-batch-size 3 --num-layers 5
try "$script" --global-batch-size
try "$script" --system nowhere
try "$script" --memory-model mine
try "$script" --search-algo best
try "$script" --auto-settings
try "$script" --top 0
grep -v num-layers "$script" >short.sh
try short.sh
grep -v seq-length "$script" >short.sh
try short.sh
sed 's/^NNODES=1/# NNODES=1/' "$script" >short.sh
try short.sh
sed 's/num-layers 32/num-layers many/' "$script" >short.sh
try short.sh
echo 'echo hello' >short.sh
try short.sh
