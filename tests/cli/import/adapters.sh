# exit 3
# Adapters and frozen weights, as each program says them.
of()
{
    echo "$1"
    shift
    "$CALC" import "$@" | grep -E 'trained|frozen|lora|dora|weight_datatype|eager' | tr -d '\n'
    echo
}
cat >lora.yaml <<'EOL'
model_name_or_path: x
finetuning_type: lora
lora_rank: 16
lora_target: q_proj,v_proj
lora_dropout: 0.05
quantization_bit: 4
use_dora: true
bf16: true
packing: true
EOL
of 'LLaMA-Factory, QLoRA with magnitudes' --from llama-factory --procs 1 lora.yaml
sed -e '/lora_\|dora\|quant/d' lora.yaml >defaults.yaml
of 'LLaMA-Factory, its defaults' --from llama-factory --procs 1 defaults.yaml
sed -e 's/finetuning_type: lora/finetuning_type: freeze\nfreeze_trainable_layers: 4/' defaults.yaml >freeze.yaml
of 'LLaMA-Factory, the last blocks' --from llama-factory --procs 1 freeze.yaml
sed -e 's/finetuning_type: lora/finetuning_type: oft/' defaults.yaml >oft.yaml
of 'LLaMA-Factory, adapters of another kind' --from llama-factory --procs 1 oft.yaml
printf 'base_model: x\nadapter: qlora\nload_in_4bit: true\nlora_r: 32\nlora_target_linear: true\nsample_packing: true\n' >qlora.yml
of Axolotl --procs 1 qlora.yml
printf 'base_model: x\nadapter: lora\nload_in_8bit: true\nlora_modules_to_save: [embed_tokens]\nlora_target_modules: [self_attn.q_proj, self_attn.k_proj, lm_head]\nsample_packing: true\npeft_use_dora: true\n' >dora.yml
of 'Axolotl, 8 bits' --procs 1 dora.yml
of 'TRL, its defaults' --from trl --procs 1 -- --use_peft --load_in_4bit --packing
of 'ms-swift, a share of the weights' --from ms-swift --procs 1 -- --tuner_type full --freeze_parameters_ratio 0.5 --packing true
of TRL --from trl --procs 1 -- --use_peft --lora_r 64 --lora_target_modules all-linear --lora_dropout 0 --packing
of 'ms-swift, with an engine that shards' --from ms-swift --procs 8 -- --tuner_type lora --lora_rank 4 \
    --target_modules all-linear --deepspeed zero2 --packing true
of Megatron-SWIFT --from megatron-swift --procs 8 -- --tuner_type lora --tensor_model_parallel_size 4 --packing true
cat >peft.yaml <<'EOL'
step_scheduler: {global_batch_size: 32, local_batch_size: 2}
distributed: {strategy: fsdp2}
peft: {_target_: nemo_automodel.components._peft.lora.PeftConfig, target_modules: "*_proj", dim: 16, alpha: 32, dropout: 0.1}
quantization: {load_in_4bit: true, bnb_4bit_use_double_quant: false}
EOL
of Automodel --from automodel --procs 8 peft.yaml
cat >bridge.yaml <<'EOL'
model: {tensor_model_parallel_size: 2, num_layers: 4}
peft: {_target_: megatron.bridge.peft.lora.LoRA, target_modules: [linear_qkv, linear_proj], dim: 8, alpha: 16, dropout: 0.1}
EOL
of Megatron-Bridge --from megatron-bridge --procs 8 bridge.yaml
sed -e 's/_target_: .*LoRA, //; s/dropout: 0.1/share_expert_adapters: false/' bridge.yaml >recipe.yaml
of 'Megatron-Bridge, over a recipe' --from megatron-bridge --procs 8 recipe.yaml
sed -e 's/lora.LoRA/canonical_lora.CanonicalLoRA/; s/linear_qkv/linear_q, linear_v, linear_fc1_up/; s/pout: 0.1/pout: 0.1, dropout_position: post/' \
    bridge.yaml >each.yaml
of 'Megatron-Bridge, one for each matrix' --from megatron-bridge --procs 8 each.yaml
printf 'trainer: {num_nodes: 1, devices: 8}\nmodel: {config: {num_layers: 4}}\npeft: {_target_: nemo.collections.llm.peft.dora.DoRA, dim: 8}\n' >dora.yaml
of 'NeMo 2' --from nemo2 dora.yaml
ACTOR=actor_rollout_ref
of verl --from verl --procs 8 -- $ACTOR.model.lora_rank=32 $ACTOR.model.target_modules=all-linear \
    $ACTOR.actor.strategy=fsdp2 $ACTOR.actor.ppo_micro_batch_size_per_gpu=8
of 'verl, Megatron' --from verl --procs 8 -- $ACTOR.model.lora.rank=32 $ACTOR.model.lora.type=canonical_lora \
    "$ACTOR.model.lora.target_modules=[linear_q,linear_proj]" $ACTOR.actor.strategy=megatron
# Regular expressions of names of modules, as PEFT takes them: of all layers, or refused.
for expression in '.*\.(q_proj|v_proj)$' 'model\.layers\.\d+\.self_attn\.(?:q|k|v|o)_proj' '^(?!.*(visual|mlp)).*_proj$' '.*self_attn.*' \
    '.*\.mlp\.[a-z]+_proj|lm_head' 'model.layers.(0|1|2).self_attn.q_proj' '(?=x)q_proj' 'nothing|else' '.*(q_proj'; do
    printf "base_model: x\nadapter: lora\nlora_r: 32\nsample_packing: true\nlora_target_modules: '%s'\n" "$expression" >regex.yml
    echo "$expression: $("$CALC" import --from axolotl --procs 1 regex.yml 2>errors | sed -n '/lora_modules/,/]/p' | tr -d '\n ')$(grep -o 'expected.*' errors)"
done
# Only the last blocks of a model can be trained alone.
sed -e 's/layers: 4/layers: -4/' freeze.yaml >first.yaml
"$CALC" import --from llama-factory --procs 1 first.yaml
