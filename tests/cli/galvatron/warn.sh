# exit 3
# Training wants a batch that is a multiple of the replicas.
"$CALC" as galvatron search "$ROOT/tests/galvatron/01_llama2-7b_1x8_36G_bsz16/args.json" --settle_bsz 12 --settle_chunk 1 | grep -v '^search\|^proof'
"$CALC" run llama2-7B a100_sxm_40g configs/*
