# Configurations that commands name are read, and what the commands say beside them counts more.
sizes() { "$CALC" import "$1" --exe x.json; status=$?; [ $status = 0 ] && grep -E '"(num_procs|tensor_par|seq_size|microbatch_size|zero_stage)"' x.json | tr -d ' \n'; echo " $1 $status"; }
mkdir -p scripts configs
printf '[training]\nlocal_batch_size=2\nseq_len=4096\n[parallelism]\ntensor_parallel_degree=2\n' >configs/t.toml
printf 'NGPU=8 CONFIG_FILE=configs/t.toml ./run_train.sh --training.local_batch_size 4\n' >scripts/titan.sh
printf 'model_name_or_path: x\nfinetuning_type: full\ncutoff_len: 4096\nper_device_train_batch_size: 2\nbf16: true\n' >configs/lf.yaml
printf 'llamafactory-cli train configs/lf.yaml\n' >scripts/lf.sh
printf 'base_model: x\nmicro_batch_size: 2\nsequence_len: 2048\nsample_packing: true\n' >configs/ax.yaml
printf 'axolotl train configs/ax.yaml\n' >scripts/ax.sh
printf 'num_processes: 8\ndistributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: FULL_SHARD}\n' >configs/acc.yaml
printf 'accelerate launch --config_file configs/acc.yaml train.py --per_device_train_batch_size 2 --bf16 --model_max_length 4096\n' >scripts/acc.sh
printf 'torchrun --nproc_per_node 8 run_train.py --config-file $(dirname $0)/nano.yaml\n' >scripts/nano.sh
printf 'parallelism: {dp: 4, tp: 2, pp: 1}\ntokens: {micro_batch_size: 1, sequence_length: 512, batch_accumulation_per_replica: 1}\n' >scripts/nano.yaml
printf 'axolotl train configs/none.yaml\n' >scripts/none.sh
for f in titan lf ax acc nano none; do sizes scripts/$f.sh; done
# Anchors and merges.
printf 'x: &base\n  per_device_train_batch_size: 4\n  bf16: true\nlength: &n 2048\n<<: *base\ncutoff_len: *n\nfinetuning_type: full\n' >merge.yaml
sizes merge.yaml
# Values that are objects; a batch that no number of processors makes; braces of GPT-NeoX with a last comma.
"$CALC" import --exe x.json -- vllm serve M --tensor-parallel-size 8 --compilation-config '{"level": 3}' \
    --hf-overrides '{"max_position_embeddings": 65536}' --speculative-config '{"method": "eagle3", "num_speculative_tokens": 3}'
grep speculative_tokens x.json
printf '{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": 4, "bf16": {"enabled": true}}' >ds.json
sizes ds.json
printf '{\n  "pipe-parallel-size": 1,\n  "model-parallel-size": 2,\n  "train_micro_batch_size_per_gpu": 4,\n  "seq-length": 2048,\n}\n' >neox.yml
sizes neox.yml
printf 'deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed --deepspeed_config ds.json --zero-stage 1 --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --micro-batch-size 2 --global-batch-size 64 --fp16\n' >mds.sh
printf '{"zero_optimization": {"stage": 1}, "fp16": {"enabled": true}}' >ds.json
sizes mds.sh
printf 'modules:\n  pre_trainer:\n    framework: megatron\n    model: llama3_70B.yaml\n    overrides: {micro_batch_size: 3, global_batch_size: 24, seq_length: 8192, tensor_model_parallel_size: 2}\n' >primus.yaml
sizes primus.yaml
sed -i 's/: megatron/: torchtitan/' primus.yaml
sizes primus.yaml
printf 'use_peft: false\nmax_prompt_length: 512\nmax_completion_length: 1536\nnum_generations: 8\nuse_vllm: true\nvllm_mode: colocate\nper_device_train_batch_size: 8\n' >grpo.yaml
sizes grpo.yaml
