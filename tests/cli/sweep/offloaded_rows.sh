# How much recomputation there is to choose beside parts that are offloaded: what keeps nothing beside them is left out.
for axis in '*' none,full,attn_only none,full; do
    for flash in true false; do
        echo "$axis, flash $flash: $("$CALC" sweep llama3-8B h100_sxm --procs 8 --batch 8 --set tp=2 --set pp=2 --set offload_modules=core_attn \
            --set flash_attention=$flash --for none --axis "activation_recompute=$axis" --plan | grep '[0-9]  layouts$')"
    done
done
