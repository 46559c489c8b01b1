"$CALC" as galvatron search "$ROOT/tests/galvatron/02_llama2-7b_1x8_24G_bsz64/args.json"
cat configs/*
