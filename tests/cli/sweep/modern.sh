# a model of today: what is searched where nobody says, and the published layout comes first
"$CALC" sweep llama3-405B h100_sxm --procs 16384 --batch 2048 --top 5 --objectives sample_rate \
    --threads 2 --no-prune | sed 's/ *[0-9.]* m*s  with .*/TIME/'
# experts, modules, several number formats, a real number
"$CALC" sweep mixtral-8x7B h100_sxm --procs 64 --batch 256 --top 3 --objectives sample_rate \
    --axis activation_recompute=none,modules --axis recompute_modules=none,layernorm+moe_act \
    --axis matrix_datatype=auto,float8 --axis moe_imbalance=0,0.25 --axis expert_tensor_par='*' \
    --axis tensor_par=1,2 --axis zero_stage='*' --threads 2 --no-prune |
    sed 's/ *[0-9.]* m*s  with .*/TIME/'
"$CALC" sweep llama3-405B h100_sxm --procs 16384 --batch 2048 --axis seq_size=131072 \
    --axis tensor_par_net=0 --plan --threads 2 | sed '/of memory, about/d; /measured on/d; /of that for/d'
# Narrower numbers are no advice where they take longer.
"$CALC" sweep qwen3-30B-A3B h100_sxm --procs 64 --batch 64 | grep -c 'narrower numbers' || true
