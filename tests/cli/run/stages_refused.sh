# exit 2
# Each says what is wrong, and where; the last one's status counts.
layout=(llama3-70B h100_sxm llama3-70B_512 --set pp=8 --set dp=16 --set cp=1 --set pipeline_interleaving=1)
"$CALC" run "${layout[@]}" --set stages=8x9
"$CALC" run "${layout[@]}" --set stages=9x9
"$CALC" run "${layout[@]}" --set stages=3,7x11 --set pipeline_schedule=zb_v
"$CALC" run "${layout[@]}" --set 'stages={"system": ["4xa800", "4xnowhere"]}' 2>&1 | sed 's/ (looked in [^)]*)//' >&2
"$CALC" run "${layout[@]}" --set stages=10,9,11,5x10 --compat repaired
"$CALC" sweep llama3-70B h100_sxm llama3-70B_512 --set stages=3,7x11
"$CALC" sweep llama3-70B h100_sxm llama3-70B_512 --axis stages=3,7x11
