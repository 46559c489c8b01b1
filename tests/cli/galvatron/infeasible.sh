# As upstream: a sentence, no file, and all is well.
"$CALC" as galvatron search "$ROOT/tests/galvatron/11_llama2-7b_1x8_6G_infeasible/args.json" --compat
"$CALC" as galvatron search "$ROOT/tests/galvatron/16_llama2-7b_1x8_24G_bsz64_infeasible_dp_pp_only/args.json"
ls
