# exit 1
# Options of memory that have a field.
m() { "$CALC" import --procs 8 --exe - -- --num-layers 32 --bf16 "$@" | grep -E 'offload(_share|_modules)?"|zero_stage|grad_data' | tr -d ' \n' && echo; }
m --use-distributed-optimizer --use-precision-aware-optimizer --optimizer-cpu-offload --optimizer-offload-fraction 0.5
m --use-distributed-optimizer --optimizer-cpu-offload --optimizer-offload-fraction 0
m --main-grads-dtype bf16
m --main-grads-dtype fp32 --grad-reduce-in-bf16
m --use-torch-fsdp2
m --use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward
m --cpu-offloading --cpu-offloading-num-layers 8
m --fine-grained-activation-offloading --offload-modules core_attn attn_proj --activation-offload-fraction 0.25
"$CALC" import --procs 1024 --exe - -- --num-layers 94 --pipeline-model-parallel-size 32 --num-layers-per-virtual-pipeline-stage 1 \
    --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split >per_stage.json
"$CALC" import --procs 1024 --exe - -- --num-layers 94 --pipeline-model-parallel-size 32 --num-virtual-stages-per-pipeline-rank 3 \
    --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split | diff per_stage.json - && echo same
printf '[model]\nconverters = ["quantize.linear.float8"]\n[training]\nlocal_batch_size = 1\n' >titan.toml
"$CALC" import --procs 8 titan.toml | grep -E '(matrix|activation)_datatype'
# Only the embedding, or only the head, counts as a block; chunks.
s() { "$CALC" import --procs 64 -- --pipeline-model-parallel-size 4 "$@" | tr -d ' \n' | grep -oE '"stages".*|"pipeline_balance":[^,}]*' && echo; }
s --num-layers 31 --account-for-embedding-in-pipeline-split
s --num-layers 31 --account-for-loss-in-pipeline-split --num-layers-per-virtual-pipeline-stage 4
s --num-layers 30 --account-for-loss-in-pipeline-split --account-for-embedding-in-pipeline-split
s --num-layers 32 --account-for-loss-in-pipeline-split
