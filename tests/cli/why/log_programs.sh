for log in titan.log nemo.log nemo_list.log wandb.csv wandb.jsonl; do
    "$CALC" why llama3-8B h100_sxm llama3-8B_8 --log "$ROOT/tests/formats/logs/$log" --top 0 | sed -n '/measured/,/^Changes/p'
done
