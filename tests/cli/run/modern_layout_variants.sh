# Lines that only some layouts have.
layout() { "$CALC" run "$@" 2> /dev/null | sed -n '/^Layout/,/^Speed/p' | grep -E "$pattern"; }
pattern='expert|replicas' layout mixtral-8x7B h100_sxm mixtral-8x7B_64 --set expert_par=4 --set expert_tensor_par=2 \
    --set capacity_factor=1.25
pattern='expert|replicas' layout mixtral-8x7B h100_sxm mixtral-8x7B_64 --set expert_par=1
pattern='attention|memory|ZeRO|count' layout gemma2-9B h100_sxm llama3-8B_128_fsdp --set attention_type=grouped_query \
    --set fsdp_par=8 --set activation_recompute=full --set recompute_modules= --set recompute_blocks=1
pattern='attention|bytes|count' layout llama3-8B h100_sxm llama3-8B_128_fsdp --set flash_attention=false \
    --set grad_reduce_datatype=bfloat16 --set memory_model=calculon --set zero_stage=0
pattern='context|schedule|batch' layout llama3-405B h100_sxm llama3-405B_128k --set context_par_type=ulysses \
    --set pipeline_schedule=zb_h1 --set pipeline_interleaving=1 --set pipeline_par_overlap=false
