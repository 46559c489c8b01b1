# Scripts as people hand them to sbatch: the size of the job is in its directives.
cat >job.sh <<'X'
#!/bin/bash
#SBATCH --job-name=pretrain-70b
#SBATCH --nodes=32              # of the cluster's partition
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:8
#SBATCH --time=2-00:00:00
set -euo pipefail
module load cuda/12.4
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
GPUS_PER_NODE=${SLURM_GPUS_ON_NODE:-4}
NNODES=${SLURM_JOB_NUM_NODES:-1}
TP=${TP:-8} PP=${PP:-8}
: "${MBS:=1}"
DP=$((NNODES * GPUS_PER_NODE / (TP * PP)))
GBS=$((DP * MBS * 256))
MODEL_ARGS="--num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64
    --group-query-attention --num-query-groups 8 --seq-length 8192 --max-position-embeddings 8192 --swiglu
    --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights
    --position-embedding-type rope --vocab-size 128256"
PARALLEL=(
    --tensor-model-parallel-size $TP
    --pipeline-model-parallel-size "$PP" # stages
    --sequence-parallel --use-distributed-optimizer
)
TRAIN="--micro-batch-size ${MBS} --global-batch-size $GBS --bf16"
TRAIN="$TRAIN --recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
srun --label torchrun --nproc_per_node "$GPUS_PER_NODE" --nnodes "$NNODES" --rdzv_endpoint "$MASTER_ADDR:29500" \
    pretrain_gpt.py $MODEL_ARGS "${PARALLEL[@]}" $TRAIN --use-flash-attn --overlap-grad-reduce --data-path $DATA
echo "done: $(date)"
X
"$CALC" import job.sh --app m.json --exe e.json 2>&1 | grep -v ignored
"$CALC" import job.sh --procs 64 --app m.json --exe e.json 2>&1 | grep -v ignored
# A task per processor, without a launcher; the options in a string and in a document.
cat >tasks.sh <<'X'
#!/bin/bash
#SBATCH -N 4 --ntasks-per-node=4 --gpus-per-task=1
#SBATCH --partition=normal
OPTIONS=$(cat <<END
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --vocab-size 32000 \
  --tensor-model-parallel-size 2
END
)
srun -u --mpi=pmix bash -c "
  export RANK=\$SLURM_PROCID
  numactl --membind=0-3 python pretrain_gpt.py $OPTIONS --micro-batch-size 1 --global-batch-size $((WORLD_SIZE * 4)) \
      --bf16 --data-path \"my data\"
"
X
"$CALC" import tasks.sh --app m.json --exe e.json 2>&1 | grep -v ignored
