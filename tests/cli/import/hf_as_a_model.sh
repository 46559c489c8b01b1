# A configuration of Hugging Face stands where a model does.
cp "$ROOT/tests/formats/hf/llama-3.1-8b.json" config.json
"$CALC" show params config.json llama3-8B
"$CALC" run config.json h100_sxm llama3-8B_128_fsdp --json a.json | head -n 2
"$CALC" run llama3-8B h100_sxm llama3-8B_128_fsdp --json b.json >/dev/null
grep '"total_time"' a.json b.json | cut -d: -f2- | uniq | wc -l
"$CALC" sweep config.json h200 --procs 8 --batch 64 --top 1 --plan | head -n 3
