# Half of the stages on another chip, which recomputes: as a summary, and what is written of it.
list='{"blocks": ["4x7", "4x13"], "system": ["4xa800", "4xh800"], "activation_recompute": {"h800": "full"}, "recompute_blocks": {"h800": 3}, "join_latency": 1e-4}'
cd "$SCRATCH" 2>/dev/null || cd "$(mktemp -d)"
layout=(llama3-70B h100_sxm llama3-70B_512 --set pp=8 --set dp=16 --set cp=1 --set pipeline_interleaving=1
    --set seq_par_ag_redo=false --set "stages=$list")
"$CALC" run "${layout[@]}" --plot --schedule exact --save-exe mixed.json
tail -2 mixed.json
"$CALC" run "${layout[@]}" --stages - | cut -d, -f1,2,4,5,19
"$CALC" run "${layout[@]}" --html page.html
grep -o '256 x a800[^"]*' page.html
