# As upstream: a sentence, no file, and all is well.
"$CALC" as galvatron search "$ROOT/tests/galvatron/11_llama2-7b_1x8_6G_infeasible/args.json" --compat
"$CALC" as galvatron search "$ROOT/tests/galvatron/16_llama2-7b_1x8_24G_bsz64_infeasible_dp_pp_only/args.json"
# 6 samples of a micro-batch on 4 ranks
sed -e 's/"settle_bsz": -1/"settle_bsz": 24/; s/"settle_chunk": -1/"settle_chunk": 4/; s/"num_gpus_per_node": 8/"num_gpus_per_node": 4/' \
    -e 's/"memory_constraint": 24/"memory_constraint": 16/' \
    -e "s,\"\.\./,\"$ROOT/tests/galvatron/," "$ROOT/tests/galvatron/02_llama2-7b_1x8_24G_bsz64/args.json" >args.json
"$CALC" as galvatron search args.json
rm args.json
ls
