# Training wants a batch that is a multiple of the replicas: upstream's answer is none.
args="$ROOT/tests/galvatron/01_llama2-7b_1x8_36G_bsz16/args.json"
"$CALC" as galvatron search "$args" --settle_bsz 12 --settle_chunk 1 --compat | grep -v '^search'
"$CALC" run llama2-7B a100_sxm_40g configs/*
"$CALC" as galvatron search "$args" --settle_bsz 12 --settle_chunk 1 | grep -v '^search'
"$CALC" run llama2-7B a100_sxm_40g configs/* | head -n 1
