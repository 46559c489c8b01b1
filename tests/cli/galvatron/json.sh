"$CALC" as galvatron search "$ROOT/tests/galvatron/20_llama2-7b_1x8_20G_bsz64_chunk8/args.json" --format json | grep -v '"solved"'
"$CALC" as galvatron search "$ROOT/tests/galvatron/11_llama2-7b_1x8_6G_infeasible/args.json" --format json | grep -v '"solved"'
ls
