cat > run.sh <<'X'
#!/bin/bash
# --bf16 in a comment counts for nothing
TP=${TP:-8}
PP="2"
LAYERS=32
GPUS=$TP
GPT_ARGS="
    --num-layers $LAYERS --hidden-size 4096 --num-attention-heads 32 \
    --seq-length 4096
"
PARALLEL=(
    --tensor-model-parallel-size ${TP}
    --pipeline-model-parallel-size $PP # stages
    --moe-layer-freq '([0]*1+[1]*31)'
    --num-experts 8
)
torchrun --nproc_per_node $GPUS --nnodes 4 pretrain_gpt.py $GPT_ARGS "${PARALLEL[@]}" \
    --micro-batch-size 1 --global-batch-size 16 --fp16 --data-path 'my data'
X
"$CALC" import run.sh --app app.json && cat app.json
