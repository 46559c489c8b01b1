# The list stays while other fields change; more of the system of the run, or of none.
list='{"blocks": ["4x7", "4x13"], "system": ["4xa800", "4xh800"]}'
layout=(llama3-70B_512 --set pp=8 --set dp=16 --set cp=1 --set pipeline_interleaving=1 --set "stages=$list")
"$CALC" why llama3-70B h800 "${layout[@]}" --top 3
"$CALC" why llama3-70B h100_sxm "${layout[@]}" --top 1 | tail -2
