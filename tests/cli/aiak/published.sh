# What it prints there: 17.62 s, 238013 tokens/s, [3, 11, 11, 11, 11, 11, 11, 11].
"$CALC" as aiak --gpu-infos a800:32,h800:224 --top 1
