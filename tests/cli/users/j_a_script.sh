# "Here is what we start with sbatch: is it good?"
cat >job.sh <<'X'
#!/bin/bash
#SBATCH --nodes=32
#SBATCH --gpus-per-node=8
ARGS="--num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 --group-query-attention
  --num-query-groups 8 --seq-length 8192 --max-position-embeddings 8192 --swiglu --normalization RMSNorm
  --disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope --vocab-size 128256
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --sequence-parallel --use-distributed-optimizer
  --micro-batch-size 1 --global-batch-size 1024 --bf16 --recompute-granularity full --recompute-method uniform
  --recompute-num-layers 1 --use-flash-attn --overlap-grad-reduce"
srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES pretrain_gpt.py $ARGS
X
"$CALC" why job.sh h100_sxm --top 4 | sed -n '/^Changes/,/^10 %/p'
echo "from files:"
"$CALC" import job.sh --app model.json --exe mine.json
"$CALC" why model.json h100_sxm mine.json --top 1 | sed -n '1,/tried/p'
