# Each file is of one format, and of no other that --from may name: status 0 on the diagonal, else 3.
# (LLM Foundry and Axolotl have the same section for FSDP.)
printf 'base_model: x\nmicro_batch_size: 2\nsequence_len: 512\nsample_packing: true\n' >axolotl
printf 'step_scheduler: {global_batch_size: 8, local_batch_size: 1}\ndistributed: {tp_size: 1}\n' >automodel
printf 'parallelism: {dp: 1, tp: 1, pp: 1}\ntokens: {micro_batch_size: 1}\n' >nanotron
printf 'per_device_batch_size: 1\nici_fsdp_parallelism: 1\n' >maxtext
printf 'model: {d_model: 64, n_heads: 4}\nfsdp_config: {sharding_strategy: FULL_SHARD}\ndevice_train_microbatch_size: 1\n' >llm-foundry
printf 'actor_rollout_ref: {actor: {megatron: {tensor_model_parallel_size: 1}}}\ntrainer: {n_gpus_per_node: 8}\n' >verl
printf 'parallel_config: {model_parallel: 1}\n' >mindformers
printf 'train: {micro_batch_size: 1}\nmodel: {hidden_size: 64}\nddp: {overlap_grad_reduce: true}\n' >megatron-bridge
formats='axolotl automodel nanotron maxtext llm-foundry verl mindformers megatron-bridge'
for file in $formats; do
    row=
    for format in $formats; do
        "$CALC" import --from "$format" "$file" >out 2>err && status=0 || status=$?
        row="$row $status"
    done
    echo "$row $file"
    "$CALC" import "$file" --exe /dev/null 2>&1 >/dev/null | grep -o '^[^:]*: .*on [0-9]* processors*'
done
# Of a family, the keys that one alone has say which it is.
is() { # key: value
    printf 'per_device_train_batch_size: 2\n%s\n' "$1" >family.yaml
    "$CALC" import family.yaml --exe /dev/null 2>&1 >/dev/null | grep -E 'on [0-9]* processor|as much'
}
is 'cutoff_len: 1024'
is 'sample_packing: true
micro_batch_size: 2
sequence_len: 1024'
is 'tuner_type: full'
is 'use_peft: true'
is 'learning_rate: 1'
