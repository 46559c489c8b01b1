# exit 3
# Braces around lines with comments, and DeepSpeed's keys among its own.
cat >run.yml <<'EOF'
# GPT-2 pretraining setup
{
   # parallelism settings
   "pipe-parallel-size": 2,
   "model-parallel-size": 4,
   "num-layers": 32,
   "hidden-size": 4096,
   "num-attention-heads": 32,
   "seq-length": 2048,
   "max-position-embeddings": 2048,
   "norm": "rmsnorm",
   "pos-emb": "rotary",
   "no-weight-tying": true,
   "activation": "gelu",
   "attention-config": [[["flash"], 32]],
   "bias-gelu-fusion": true,
   "optimizer": {"type": "Adam", "params": {"lr": 0.00012}},
   "zero_optimization": {"stage": 1, "overlap_comm": True, "contiguous_gradients": True},
   "train_micro_batch_size_per_gpu": 4,
   "gradient_accumulation_steps": 8,
   "checkpoint-activations": true,
   "hidden-dropout": 0,
   "attention-dropout": 0,
   "bf16": {"enabled": true},
}
EOF
"$CALC" import --procs 64 run.yml --app model.json --exe run.json
grep -E 'hidden|blocks|feedforward"|heads|_type|bias|tied|seq' model.json
cat run.json
printf '{"pipe_parallel_size": 0, "model_parallel_size": 2, "hidden_size": 512, "gpt_j_tied": true, "gpt_j_residual": true, "train_batch_size": 32}' >residual.json
"$CALC" import --from gpt-neox --procs 8 residual.json | grep -E 'par"|batch'
"$CALC" import --procs 8 residual.json --app model.json
