# exit 1
# Stages on two chips: the layout is written, which are where is a remark; recomputation by stage is not said.
layout=(llama3-70B llama3-70B_512 --set pp=8 --set dp=16 --set cp=1 --set pipeline_interleaving=1 --set grad_datatype=float32)
"$CALC" export "${layout[@]}" --set 'stages={"blocks": ["4x7", "4x13"], "system": ["4xa800", "4xh800"]}' | grep layout
"$CALC" export --to mindformers "${layout[@]}" --set 'stages={"blocks": ["4x7", "4x13"], "activation_recompute": ["4xnone", "4xfull"], "recompute_blocks": ["4x0", "4x3"]}' | grep -E 'offset|recompute'
"$CALC" export --to paddle "${layout[@]}" --set stages=3,7x11
"$CALC" export "${layout[@]}" --set 'stages={"activation_recompute": ["4xnone", "4xfull"]}'
