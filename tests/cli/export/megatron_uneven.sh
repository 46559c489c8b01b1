# stages that differ are a list; equal ones are not
"$CALC" export kimi-k2-1T "$ROOT/executions/llama3-405B_16384.json" --set attention_type=multi_latent --set pipeline_interleaving=1 |
    grep -E 'layout|account|num-layers'
"$CALC" export --to megatron-bridge llama3-405B llama3-405B_16384 --set pipeline_interleaving=1 --set pipeline_balance=blocks |
    grep -E 'layout|account'
"$CALC" export llama3-405B llama3-405B_16384 | grep -E 'layout|account'
"$CALC" import -- --pipeline-model-parallel-size 4 --num-layers 61 --pipeline-model-parallel-layout 'Et*15|(t*16|)*2t*14L' \
    --hidden-size 64 --num-attention-heads 8 --seq-length 64 --micro-batch-size 1 --global-batch-size 4 2>/dev/null |
    grep -E 'balance|"pipeline_par"|interleaving'
"$CALC" import -- --pipeline-model-parallel-size 4 --num-layers 61 --pipeline-model-parallel-layout 'Et*15|' 2>&1
# published of DeepSeek-V3: 16 stages of 2 chunks
"$CALC" import --from megatron -- --pipeline-model-parallel-size 16 --num-layers 61 --mtp-num-layers 1 \
    --pipeline-model-parallel-layout 'Et*3|(tt|)*29m|L' --hidden-size 64 --num-attention-heads 8 --seq-length 64 \
    --micro-batch-size 1 --global-batch-size 16 2>&1 | grep -E 'balance|"pipeline_par"|interleaving|expected'
