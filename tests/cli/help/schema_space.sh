# axes take numbers, words or lists of them; what fields say comes from their tables
"$CALC" show schema space | grep -E '"(top|num_procs|datatype|seq_size|pipeline_interleaving)":'
"$CALC" show schema layer | sed -n '3,10p'
"$CALC" show schema space | tail -4
