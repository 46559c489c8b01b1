# An engine from 24 runs of serving; what is written is what is printed, and an engine that an execution may name.
header=$(zcat "$ROOT/tests/measured/serving_runs.csv.gz" | head -1)
{ echo "$header"; zcat "$ROOT/tests/measured/serving_runs.csv.gz" | grep -a 'NVIDIA gap.*qwen3-32B,h100_sxm.*vllm' | head -24; } > mine.csv
"$CALC" calibrate mine.csv --cross half --into engine.json --json all.json || exit
# Every measurement with its predictions, and the order of layouts.
grep -c '"id".*"quantity": "tpot".*"unseen": [0-9]' all.json
grep -m1 '"by": "set".*"quantity": "tpot"' all.json | grep -o '"kendall_tau": [0-9.]*' | head -1
grep -E '"(program|host|matrix_share)"' engine.json
"$CALC" run llama3-8B h100_sxm --procs 1 --batch 8 --set inference.phase=serve --set inference.generate_size=100 \
    --set inference.engine=./engine.json 2>/dev/null | grep 'per output token'
for options in '--cross width' '--rows 3' '--fields host.block' '--system h100_sxm --system h200' '--system b300' '--hold-out h100'; do
    # shellcheck disable=SC2086
    "$CALC" calibrate mine.csv $options > /dev/null
    echo "status $?" >&2
done
