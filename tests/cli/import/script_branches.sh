# What a branch of a script has is taken, and said.
cat >run.sh <<'EOF'
if [ -n "$RECOMPUTE" ]; then R="--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"; else R=""; fi
if [[ $FP8 == 1 ]]; then
    ARGS+=(--fp8-format hybrid)
fi
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 \
    --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 --tensor-model-parallel-size 2 --bf16 $R "${ARGS[@]}"
EOF
"$CALC" import run.sh | grep -E 'recompute"|matrix|num_procs'
# The launcher of DeepSpeed has its own names of sizes.
"$CALC" import --from transformers -- --num_gpus 8 --num_nodes 2 --per_device_train_batch_size 4 --gradient_accumulation_steps 2 |
    grep -E 'num_procs|batch'
# Two chunks a stage where TorchTitan is told no layers.
printf '[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = "Interleaved1F1B"\n[training]\nlocal_batch_size = 8\n' >tt.toml
"$CALC" import --procs 8 tt.toml | grep interleaving
# The rectifier keeps the gate, its square has none.
for act in relu relu2; do
    printf '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000, "hidden_act": "%s"}\n' $act >config.json
    "$CALC" import config.json --app model.json >/dev/null
    "$CALC" show params model.json | tail -1
done
