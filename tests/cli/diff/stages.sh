# Lists of stages, key by key, with the numbers of both.
cd "$(mktemp -d)"
layout=(llama3-70B h100_sxm llama3-70B_512 --set pp=8 --set dp=16 --set cp=1 --set pipeline_interleaving=1 --set seq_par_ag_redo=false)
"$CALC" run "${layout[@]}" --set stages=8,10,11,9,10,11,11,10 --save-exe a.json > /dev/null
"$CALC" run "${layout[@]}" --set 'stages={"blocks": ["4x7", "4x13"], "system": ["4xa800", "4xh800"], "activation_recompute": ["4xnone", "4xfull"], "join_latency": 1e-5}' --save-exe b.json > /dev/null
"$CALC" diff a.json b.json
"$CALC" diff a.json b.json llama3-70B h100_sxm | sed -n '/Time of/,/total/p'
"$CALC" diff a.json a.json
