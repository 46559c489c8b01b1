# A recipe as YAML: its strategy has the sizes, the configuration of the model the rest.
cat >recipe.yaml <<'EOF'
_target_: nemo.collections.llm.api.pretrain
trainer:
  _target_: nemo.lightning.Trainer
  devices: 8
  num_nodes: 4
  max_steps: 100
  accelerator: gpu
  plugins: {_target_: nemo.lightning.MegatronMixedPrecision, precision: bf16-mixed, grad_reduce_in_fp32: true}
  strategy:
    _target_: nemo.lightning.MegatronStrategy
    tensor_model_parallel_size: 4
    pipeline_model_parallel_size: 2
    context_parallel_size: 1
    sequence_parallel: true
    virtual_pipeline_model_parallel_size: 5
    ddp: {overlap_grad_reduce: true, overlap_param_gather: true}
data: {_target_: nemo.collections.llm.MockDataModule, seq_length: 8192, global_batch_size: 512, micro_batch_size: 1}
model:
  _target_: nemo.collections.llm.LlamaModel
  config: {_target_: nemo.collections.llm.Llama3Config70B, num_layers: 80, hidden_size: 8192, recompute_granularity: full}
optim: {_target_: nemo.lightning.MegatronOptimizerModule, config: {optimizer: adam, lr: 3e-4, use_distributed_optimizer: true}}
EOF
"$CALC" import recipe.yaml
