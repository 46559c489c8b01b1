# exit 3
# A strategy file is an execution.
file="$ROOT/tests/galvatron/20_llama2-7b_1x8_20G_bsz64_chunk8/galvatron_config_llama2-7b_1nodes_8gpus_per_node_20GB_bf16.json"
"$CALC" run llama2-7B a100_sxm_40g "$file"
"$CALC" run llama3-8B a100_sxm_40g "$file" --json - | grep '"attention_type"'
"$CALC" run llama2-7B a100_sxm_40g "$file" --trace trace.json >out && test -s trace.json && echo traced
cp "$file" out.json
sed -i 's/"8,8"/"8,9"/; s/"16,16"/"15,16"/' out.json
"$CALC" run llama2-7B a100_sxm_40g out.json
