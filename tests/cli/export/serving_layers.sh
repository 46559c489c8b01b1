# exit 1
# A server of a model that lists its layers; its heads have to divide by the ranks.
D=$ROOT/tests/cli/export
for engine in vllm sglang tensorrt-llm; do
    "$CALC" export --to $engine "$D/qwen3_next.app.json" llama3-70B_serving_8 --set ep=8 --set etp=1 | head -6
done
"$CALC" export --to vllm "$D/qwen3_next.app.json" llama3-70B_serving_8 --set num_procs=32 --set tp=32 --set ep=32 --set etp=1
