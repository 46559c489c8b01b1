# As their users write them.
cat >ds.json <<'END'
{
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": 2,
  "gradient_accumulation_steps": 8,
  "zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}, "reduce_bucket_size": 5e8},
  "bf16": {"enabled": "auto"},
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-5}}
}
END
"$CALC" import --from deepspeed --procs 16 ds.json
cat >titan.toml <<'END'
[job]
dump_folder = "./outputs"

[model]
name = "llama3"
flavor = "8B"

[training]
local_batch_size = 1
seq_len = 8192

[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 2 # of 8
END
"$CALC" import --from torchtitan --procs 64 titan.toml
printf '[parallelism]\ndata_parallel_replicate_degree = 2\n' >titan.toml
"$CALC" import --from torchtitan --procs 16 titan.toml 2>/dev/null | grep -E 'data_par"|fsdp_par'
printf '[parallelism\n' >bad.toml
"$CALC" import --from torchtitan bad.toml
printf '[parallelism]\ntensor_parallel_degree = "two"\n' >bad.toml
"$CALC" import --from torchtitan bad.toml
"$CALC" import --from deepspeed --exe /dev/null ds.json
"$CALC" import --from deepspeed --procs 16 --exe /dev/null ds.json 2>&1 | tail -n 1
