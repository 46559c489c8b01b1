# The command of TRL, launched by Accelerate with its file.
cat >fsdp2.yaml <<'EOF'
distributed_type: FSDP
fsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: true, fsdp_offload_params: false}
mixed_precision: bf16
num_machines: 1
num_processes: 8
EOF
cat >train.sh <<'EOF'
accelerate launch --config_file fsdp2.yaml trl/scripts/sft.py \
    --model_name_or_path Qwen/Qwen2-0.5B --dataset_name trl-lib/Capybara --learning_rate 2.0e-5 \
    --packing --max_length 4096 --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --use_liger_kernel --eos_token '<|im_end|>'
EOF
"$CALC" import train.sh
"$CALC" import --procs 4 --from trl -- --per_device_train_batch_size 2 --gradient_checkpointing false --use_peft |
    grep -E 'batch|recompute|seq_size|datatype'
# What a model is loaded as is the format of its optimizer's state, unless an engine keeps it in float32.
printf 'max_length: 64\nmodel_name_or_path: m\ntorch_dtype: bfloat16\nbf16: true\npacking: true\n' >loaded.yaml
state() { "$CALC" import --procs 8 "$@" 2>&1 | grep -E 'zero_stage|(weight|grad|master|moment)_datatype|format is' | tr -d '\n'; echo; }
state loaded.yaml
printf 'fsdp: full_shard\n' | cat loaded.yaml - >sharded.yaml
state sharded.yaml
printf '{"zero_optimization": {"stage": 2}}' >ds.json
printf 'deepspeed: ds.json\n' | cat loaded.yaml - >engine.yaml
state engine.yaml
printf 'cutoff_len: 64\nfinetuning_type: full\npure_bf16: true\npacking: true\n' >pure.yaml
state pure.yaml
