# What the summary says of layers that differ, and of their stages.
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --set 'layers={"blocks": [4, 36, 40], "tensor_par": [8, 4, 4], "zero_stage": [3, null, 2], "activation_recompute": ["full", "none", "none"], "ends": {"tensor_par": 8}}' --save-exe layered.json
"$CALC" run llama3-70B h100_sxm layered.json --schedule exact | grep -A 1 'time per step'
"$CALC" run llama3-70B h100_sxm layered.json --stages - | cut -d, -f1,2,4-8
grep layers layered.json
