# exit 2
# Nothing is said of the layout: the fewest processors on which one can run, and what was taken is said.
"$CALC" run llama3-8B h100_sxm | grep -E '^llama|^  batch'
"$CALC" run llama3-70B a100_sxm_80g | grep -E '^llama|^  batch'
"$CALC" why qwen2.5-0.5B rtx_4090 | sed -n 1p
"$CALC" run llama3-70B h100_sxm --set tp=8
