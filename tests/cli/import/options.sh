"$CALC" import --from megatron -- torchrun --nproc-per-node 8 --nnodes 4 pretrain_gpt.py \
    --tensor-model-parallel-size 4 --pipeline-model-parallel-size=2 --num-layers 48 \
    --num-layers-per-virtual-pipeline-stage 6 --micro-batch-size 2 --global-batch-size 64 \
    --seq-length 4096 --bf16 --recompute-activations --use-distributed-optimizer \
    --overlap-grad-reduce --lr 1e-4 --weird
