# A disaggregated layout is two servers of one script, which starts the one that it is told.
two='--set inference.phase=disaggregated --set inference.prefill_procs=4 --set inference.prefill_tensor_par=2'
for framework in vllm sglang; do
    # shellcheck disable=SC2086
    "$CALC" export --to $framework llama3-70B llama3-70B_serving_8 $two --out server.sh || exit
    cat server.sh
    for pool in prefill decode; do
        bash <(sed 's/^vllm serve\|^python3 -m sglang/echo &/' server.sh) $pool model --port 1
    done
done
bash server.sh both model 2>&1
echo "status $?"
# shellcheck disable=SC2086
"$CALC" export --to tensorrt-llm llama3-70B llama3-70B_serving_8 $two
echo "status $?"
# shellcheck disable=SC2086
"$CALC" export --to vllm llama3-70B llama3-70B_serving_8 $two --diff llama3-70B_serving_8
echo "status $?"
