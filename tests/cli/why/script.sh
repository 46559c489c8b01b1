# A configuration of torchtitan: its model by name, its processors by --procs, changes in its own keys.
cat > run.toml << 'END'
[model]
name = "llama3"
flavor = "70B"
[training]
seq_len = 8192
local_batch_size = 1
global_batch_size = 64
[parallelism]
tensor_parallel_degree = 8
[activation_checkpoint]
mode = "full"
END
"$CALC" why run.toml h100_sxm --procs 64 --top 3 | sed -n '/^Changes/,/^10 %/p'
# From standard input, with an override; a script is a model for a layout of one's own, and for a sweep.
"$CALC" run - h100_sxm --procs 64 --set tp=4 --set dp=16 < run.toml | grep 'time per step'
"$CALC" run run.toml h100_sxm llama3-70B_512 | grep 'time per step'
"$CALC" sweep run.toml h100_sxm --procs 64 --set gbs=64 --for torchtitan --top 1 | sed -n '/^Best/,/^$/p'
"$CALC" why run.toml h100_sxm --procs 64 --top 1 --json - | tr -d '\n' | grep -o '"changes":.*"ten_percent_more"'
# A program that is only read: no words of its own, and nothing of a sweep.
printf '{"pipe-parallel-size": 2, "model-parallel-size": 4, "num-layers": 32, "hidden-size": 4096, "num-attention-heads": 32,
"seq-length": 2048, "max-position-embeddings": 2048, "no-weight-tying": true, "zero_optimization": {"stage": 1},
"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8, "bf16": {"enabled": true}}' > neox.yml
"$CALC" why neox.yml h100_sxm --procs 64 --top 1 | sed -n '/^Changes/,/^10 %/p'
