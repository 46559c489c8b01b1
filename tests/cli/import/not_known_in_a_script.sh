# exit 3
# What a script takes from where it runs is not guessed: neither variables, nor the branch that is taken.
cat >job.sh <<'X'
if [ "$SIZE" = 7b ]; then LAYERS=32; else LAYERS=80; fi
torchrun --nnodes $NNODES --nproc_per_node $(nvidia-smi -L | wc -l) pretrain_gpt.py --num-layers $LAYERS \
    --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --vocab-size 32000 --micro-batch-size 1 \
    --global-batch-size 64 --tensor-model-parallel-size 2
X
"$CALC" import job.sh --app m.json
sed -i 's/LAYERS=80/LAYERS=32/' job.sh
"$CALC" import job.sh --procs 8 --app m.json --exe e.json && cat m.json | grep num_blocks
"$CALC" import job.sh --app m.json
