# Full fine-tuning on 16 processors, sharded as the DeepSpeed file beside it says: 16 * 2 * 4 sequences.
mkdir deepspeed
cat >deepspeed/ds_z3_config.json <<'EOF'
{
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto",
  "gradient_clipping": "auto",
  "zero_allow_untested_optimizer": true,
  "fp16": {"enabled": "auto", "loss_scale": 0},
  "bf16": {"enabled": "auto"},
  "zero_optimization": {"stage": 3, "overlap_comm": false, "contiguous_gradients": true}
}
EOF
cat >sft.yaml <<'EOF'
### model
model_name_or_path: Qwen/Qwen3-4B-Instruct-2507
trust_remote_code: true
### method
stage: sft
do_train: true
finetuning_type: full
deepspeed: deepspeed/ds_z3_config.json
### dataset
dataset: identity,alpaca_en_demo
template: qwen3_nothink
cutoff_len: 2048
packing: true
### train
per_device_train_batch_size: 2
gradient_accumulation_steps: 4
learning_rate: 1.0e-5
bf16: true
resume_from_checkpoint: null
EOF
"$CALC" import --procs 16 sft.yaml
"$CALC" import --procs 16 sft.yaml --app model.json
sed -e 's/finetuning_type: full/finetuning_type: lora/' -e 's/ds_z3/ds_z2/' -e '/packing/d' sft.yaml |
    "$CALC" import --procs 16 - | grep -E 'zero_stage|batch_size|sharding'
# With Megatron Core: replicas are what tensor and pipeline parallelism leave, 8 / 4.
cat >mca.yaml <<'EOF'
model_name_or_path: Qwen/Qwen3-30B-A3B-Instruct-2507
finetuning_type: full
cutoff_len: 4096
packing: true
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
bf16: true
tensor_model_parallel_size: 1
sequence_parallel: false
pipeline_model_parallel_size: 4
expert_model_parallel_size: 2
use_distributed_optimizer: true
overlap_grad_reduce: true
recompute_granularity: full
EOF
"$CALC" import --procs 8 mca.yaml | grep -E 'par"|batch|zero|recompute|overlap"|eager'
