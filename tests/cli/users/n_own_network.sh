# 32 nodes of 8 MI300X with 400 Gb/s each: where to start?
"$CALC" sweep llama3-70B mi300x --procs 256 --batch 1024 --set 'networks[1].bandwidth=400Gb/s' --top 2 2>&1 |
    sed -n '/not calibrated/p;/^Start/,/^$/p;/^Best/,/^$/p'
