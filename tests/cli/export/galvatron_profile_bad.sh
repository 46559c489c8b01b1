# exit 2
"$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g
"$CALC" export --to galvatron-profile llama2-7B --out profiles
"$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --keys --out profiles
"$CALC" export --to galvatron-profile llama2-7B h100_80g_nvl8 --out profiles
"$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --nodes 3 --out profiles
"$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --out no/such/folder
(trap '' XFSZ && ulimit -f 1 && "$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --out profiles) # a folder of its own goes, too
ls
mkdir mine
(trap '' XFSZ && ulimit -f 1 && "$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --out mine)
ls
"$CALC" export --to galvatron-profile llama2-7B a100_sxm_80g --nodes 0 --out profiles
