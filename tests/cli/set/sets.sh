# Several words of a set: with + or, where no other values are listed, with commas.
run() { "$CALC" run llama3-70B h100_sxm llama3-70B_512 --set recompute=modules --json - "$@" | grep -o '"recompute_modules": \[[^]]*\]'; }
run --set recompute_modules=layernorm+mlp
run --set recompute_modules=layernorm,mlp
run --set 'recompute_modules=["layernorm", "mlp"]'
run --set recompute_modules=layernorm,norms; echo $?
sweep() { "$CALC" sweep llama3-70B h100_sxm --procs 64 --batch 64 --set recompute=modules --plan "$@" 2>&1 | grep -E 'recompute_modules|hint'; }
sweep --set recompute_modules=layernorm,mlp
sweep --axis recompute_modules=layernorm,mlp
sweep --axis recompute_modules=layernorm+mlp,mlp
sweep --axis recompute_modules=layernorm:mlp
