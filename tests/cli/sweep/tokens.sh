# Batches in tokens, and the days and the price of a training.
sweep() { "$CALC" sweep llama3-8B h100_sxm --procs 512 --objectives mfu --top 1 "$@"; }
sweep --batch 4Mitokens --plan | grep -o 'batch_size [^;]*'
sweep --batch 4Mitokens --set seq=4096 --plan | grep -o 'batch_size [^;]*'
sweep --batch 4Mitokens --axis app.seq_size=4096 --plan | grep -o 'batch_size [^;]*'
sweep --batch 4Mitokens --set gbs=512 --plan | grep -o 'batch_size [^;]*'
for wrong in "--batch 4M" "--batch 4Mtokens" "--batch 4Mitokens --axis seq=4096,8192" "--batch 64 --days 3" "--batch 64 --tokens x" \
    "--batch 64 --tokens 15T --days -1"; do
    sweep $wrong
    echo "$?"
done
small="--set tp=1 --set mbs=1 --set pp=2"
sweep --batch 2Mitokens --tokens 15T --set price=2.5 --axis 'networks[1].bandwidth=100Gb/s,400Gb/s' --per design $small | sed -n '/^Training/,$p'
# All are done in 1,000 days, some in 50, none in an hour.
filtered() { sweep --batch 2Mitokens $small --tokens 15T --days "$1" 2>&1 | grep -E 'filtered|infeasible'; }
filtered 1000
filtered 50
filtered 1h
