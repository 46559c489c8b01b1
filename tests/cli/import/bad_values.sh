# exit 3
"$CALC" import -- --tensor-model-parallel-size 8x --bf16 --fp16 --num-layers 0 \
    --normalization Batch --moe-layer-freq '([2])'
