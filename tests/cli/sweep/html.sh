# A page beside the table; not of a share of a sweep.
"$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --axis microbatch_size=1 --html page.html > table 2> errors ||
    grep -q 'built without the library of charts' errors || cat errors
[ ! -e page.html ] || grep -c 'id="calc-data"' page.html | grep -vx 1
[ -s table ] || grep -q 'install the Debian package node-d3' errors || echo "neither table nor hint"
"$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --shard 1/2 --out part --html page.html 2>&1 | head -1
"$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --html - --out - 2>&1 | head -1
"$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --html no/such/folder.html 2>&1 | head -1 |
    sed 's/^--html: .*without the library.*/no\/such\/folder.html: cannot write: No such file or directory/'
