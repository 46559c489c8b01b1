cat >moe.yaml <<'EOF'
recipe: BenchmarkingRecipeForNextTokenPrediction
distributed:
  strategy: fsdp2
  tp_size: 1
  cp_size: 1
  pp_size: 4
  ep_size: 32
  activation_checkpointing: true
  pipeline: {pp_schedule: 1f1b, pp_microbatch_size: 1}
step_scheduler: {global_batch_size: 2048, local_batch_size: 8}
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config
  config: {pretrained_model_name_or_path: Qwen/Qwen3-235B-A22B}
  backend: {attn: te, dispatcher: deepep}
dataset: {seq_len: 4096}
EOF
"$CALC" import --procs 256 moe.yaml
"$CALC" import moe.yaml --app model.json
# Accumulation is what the two batches and the replicas leave: 64 / 8 / 4.
printf 'step_scheduler: {global_batch_size: 64, local_batch_size: 8}\ndistributed: {strategy: ddp, dp_size: none, tp_size: 2, cp_size: 1}\npacked_sequence: {packed_sequence_size: 0}\npeft: {_target_: nemo_automodel.PeftConfig, dim: 8}\n' >ddp.yaml
"$CALC" import --procs 8 ddp.yaml | grep -E 'par"|batch|zero'
