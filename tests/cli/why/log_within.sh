"$CALC" why llama3-70B h100_sxm llama3-70B_512 --log "$ROOT/tests/formats/logs/megatron.log" --top 0
