# Models that list their layers: blocks of Megatron's GPT model, and letters with stages among them.
D=$ROOT/tests/cli/export
for model in qwen3_next deepseek_v3_2 nemotron_super; do
    "$CALC" export "$D/$model.app.json" "$D/layers.exe.json" 2>&1 |
        grep -E 'core_v|num-layers |variant|linear|pattern|layer-freq|pipeline|dsa|mamba|gate|latent|mtp|torchrun|cannot'
done
