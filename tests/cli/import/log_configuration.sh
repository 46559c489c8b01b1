# Logs that have the configuration of their run stand for model and layout, as its own file does: of torchtitan with print_config, in
# the lines of one rank among others', of NeMo with a launcher's prefix and without, and as Weights & Biases keeps it.
same() { # file expected
    "$CALC" import "$1" 2>/dev/null | cmp - "$2" && echo "$1 is read as $2"
}
cat >titan.json <<'END'
{
  "job": {
    "dump_folder": "./outputs",
    "print_config": true
  },
  "model": {
    "name": "llama3",
    "flavor": "8B",
    "converters": []
  },
  "training": {
    "local_batch_size": 1,
    "global_batch_size": 16,
    "seq_len": 8192
  },
  "parallelism": {
    "data_parallel_replicate_degree": 1,
    "data_parallel_shard_degree": 4,
    "tensor_parallel_degree": 2
  },
  "activation_checkpoint": {
    "mode": "selective"
  }
}
END
cat >titan.toml <<'END'
[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 1
global_batch_size = 16
seq_len = 8192
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = 4
tensor_parallel_degree = 2
[activation_checkpoint]
mode = "selective"
END
"$CALC" import titan.toml >titan 2>/dev/null
same titan.json titan
{
    echo '[rank0]:[titan] 2026-02-01 08:00:01,123 - root - INFO - Starting job: Llama 3 8B training'
    sed '1s/^/[rank0]:[titan] 2026-02-01 08:00:01,124 - root - INFO - Running with configs: /; 1!s/^/[rank0]:/' titan.json | sed '4i [rank1]:[titan] 2026-02-01 08:00:01,125 - root - INFO - "none": of it'
    cat "$ROOT/tests/formats/logs/titan.log"
} >titan.log
same titan.log titan
sed 's/^\[rank0\]://; /^\[rank1\]/d' titan.log >plain.log
same plain.log titan
"$CALC" why titan.log h100_sxm --log titan.log --top 0 2>/dev/null | sed -n '1p; /measured/,/memory/p'
# An error in it is in the line of the log.
sed 's/"tensor_parallel_degree": 2/"tensor_parallel_degree": "two"/' titan.log >bad.log
"$CALC" import bad.log
# One that breaks off.
sed '/"parallelism"/q' titan.log >bad.log
"$CALC" import bad.log
python3 - <<'END'
import json
config = json.load(open("titan.json"))
with open("config.yaml", "w") as new, open("old.yaml", "w") as old:
    new.write("_wandb:\n    value:\n        cli_version: 0.19.11\n")
    old.write("wandb_version: 1\n\n_wandb:\n  desc: null\n  value:\n    cli_version: 0.16.11\n")
    for table, keys in config.items():
        new.write(f"{table}:\n    value:\n" + "".join(f"        {key}: {json.dumps(value)}\n" for key, value in keys.items()))
        old.write(f"{table}:\n  desc: null\n  value:\n" + "".join(f"    {key}: {json.dumps(value)}\n" for key, value in keys.items()))
END
same config.yaml titan
same old.yaml titan
"$CALC" export llama3-8B llama3-8B_8 --to nemo --set grad_datatype=float32 2>/dev/null | grep -v '^#' | grep . >nemo.yaml
"$CALC" import nemo.yaml >nemo 2>/dev/null
{
    echo '0: [NeMo I 2026-01-18 07:39:41 megatron_gpt_pretraining:36] '
    printf '0:     \n0:     ************** Experiment configuration ***********\n'
    echo '0: [NeMo I 2026-01-18 07:39:41 megatron_gpt_pretraining:37] '
    sed 's/^/0:     /; 7a 1: [NeMo W 2026-01-18 07:39:42 experimental:27] another rank' nemo.yaml
    printf '0:     \n0: [NeMo I 2026-01-18 07:39:43 exp_manager:386] Experiments will be logged\n0:     trainer: elsewhere\n'
    cat "$ROOT/tests/formats/logs/nemo.log"
} >nemo.log
same nemo.log nemo
sed '/^1:/d; s/^0: \?//' nemo.log >plain.log
same plain.log nemo
"$CALC" why nemo.log h100_sxm --log nemo.log --top 0 2>/dev/null | sed -n '1p; /measured/,/step/p'
