#!/bin/bash
# A dense model of 7 billion parameters on one node of eight, as MindSpeed's planner is launched.
export CUDA_DEVICE_MAX_CONNECTIONS=1
source /usr/local/Ascend/ascend-toolkit/set_env.sh

NNODES=1
GPUS_PER_NODE=8
MASTER_ADDR=localhost
MASTER_PORT=6001
NODE_RANK=0

DATA_PATH={where the data are}
TOKENIZER_MODEL={where the tokenizer is}
CKPT=./ckpt
TP=1
PP=8

DISTRIBUTED_ARGS="
    --nproc_per_node $GPUS_PER_NODE \
    --nnodes $NNODES \
    --node_rank $NODE_RANK \
    --master_addr $MASTER_ADDR \
    --master_port $MASTER_PORT
"

MODEL_ARGS="
    --tensor-model-parallel-size ${TP} \
    --pipeline-model-parallel-size ${PP} \
    --sequence-parallel \
    --micro-batch-size 4 \
    --global-batch-size 256 \
    --num-layers 32 \
    --hidden-size 4096 \
    --ffn-hidden-size 11008 \
    --num-attention-heads 32 \
    --seq-length 2048 \
    --max-position-embeddings 2048 \
    --position-embedding-type rope \
    --normalization RMSNorm \
    --swiglu \
    --disable-bias-linear \
    --untie-embeddings-and-output-weights \
    --make-vocab-size-divisible-by 1 \
    --tokenizer-type Llama2Tokenizer \
    --tokenizer-model ${TOKENIZER_MODEL} \
    --attention-dropout 0.0 \
    --hidden-dropout 0.0 \
    --use-fused-rmsnorm \
    --use-flash-attn \
    --no-gradient-accumulation-fusion \
    --fp16
"

TRAIN_ARGS="
    --lr 1.0e-6 \
    --min-lr 1.0e-7 \
    --train-iters 5000 \
    --clip-grad 1.0 \
    --load ${CKPT} \
    --no-load-optim
"

DATA_ARGS="
    --data-path $DATA_PATH \
    --split 100,0,0
"

SEARCH_ARGS="
    --auto-parallel \
    --nnodes $NNODES \
    --nproc-per-node $GPUS_PER_NODE \
    --master-addr $MASTER_ADDR \
    --master-port $MASTER_PORT \
    --node-rank $NODE_RANK \
"

python pretrain_gpt.py \
    $MODEL_ARGS \
    $TRAIN_ARGS \
    $DATA_ARGS \
    $SEARCH_ARGS \
    --distributed-backend nccl \
    | tee logs/search_llama_7b.txt
