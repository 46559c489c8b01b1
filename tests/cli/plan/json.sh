# what is said of each plan as JSON: of its stages, its paths, how to run it; without input and statistics of calc run
"$CALC" plan llama2-70B a800,h800 --chips a800:8,h800:8 --procs 16 --batch 32 --axis pp=4 --axis tp=4 \
    --axis microbatch_size=1 --axis pipeline_interleaving=1 --set num_blocks=8 --time-limit 1000 --progress none --out - |
    sed '/^  "m.*[{[]$/,/^  []}]/d; /^      "\(execution\|stats\)": {$/,/^      }/d; s/\(\.[0-9]\{6\}\)[0-9]*/\1/g; /^ \{10,12\}"/d; s/"stats": .*/"stats": .../'
