# exit 1
# Adapters: as they are written, and as they come back.
round()
{
    "$CALC" export --to megatron-bridge "$@" >file.yaml && sed -n '/^peft/,/^[^ p]/p' file.yaml &&
        "$CALC" import --from megatron-bridge --procs 64 file.yaml 2>/dev/null | grep -E 'trained|lora|dora'
}
L='llama3-70B h100_sxm llama3-70B_64_fp8 --set trained=adapters --set lora_rank=16'
round $L --set lora_fused=true --set lora_modules=q_proj+k_proj+v_proj
round $L --set lora_dropout=true
round $L --set dora=true --set lora_fused=true --set lora_modules=o_proj+gate_proj+up_proj+head
round qwen3-30B-A3B h100_sxm qwen3-30B-A3B_32 --set trained=adapters --set lora_rank=8 --set lora_fused=true --set lora_experts=each
round deepseek-v2-lite h100_sxm --procs 64 --set batch_size=64 --set tp=1 --set pp=1 --set trained=adapters --set lora_rank=8 \
    --set lora_experts=shared --set cuda_graph=0
# What has no words is refused.
for SETTING in frozen_datatype=nf4_double 'lora_fused=true --set lora_modules=q_proj+gate_proj+up_proj'; do
    "$CALC" export --to megatron-bridge $L --set $SETTING
done
"$CALC" export --to megatron-bridge llama3-70B h100_sxm llama3-70B_64_fp8 --set trained=head
"$CALC" export --to megatron $L --set dora=true
