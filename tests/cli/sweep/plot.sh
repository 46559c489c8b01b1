# The time of the best; wider, in letters, in colour; nothing for groups, where nothing was found or standard output is taken.
small='gpt3-13B a100_80g --procs 8 --batch 16 --top 3 --no-prune'
drawing() { sed -n '/^Time of a sample/,$p'; }
"$CALC" sweep $small --plot | drawing
LC_ALL=C COLUMNS=60 "$CALC" sweep $small --plot --objectives total_time,mem1 | drawing
"$CALC" sweep $small --procs 8:64:x2 --batch 64 --per num_procs --plot | drawing
"$CALC" sweep $small --axis tensor_par=8 --axis microbatch_size=1 --plot --where 'mem1 <= 1KiB' 2>&1 | drawing
"$CALC" sweep $small --plot --out - | drawing
script -qec "stty cols 50; TERM=xterm \"$CALC\" sweep $small --plot --progress none --threads 1" /dev/null |
    tr -d '\r' | drawing | sed 's/\x1b/ESC/g' | head -4
