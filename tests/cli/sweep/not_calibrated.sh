# On a terminal a sweep says once what is not calibrated; standard output and error are one there.
script -qec "\"$CALC\" sweep gpt3-175B a100_80g --procs 512 --batch 512 --plan" /dev/null | tr -d '\r' | head -n 3
"$CALC" sweep gpt3-175B a100_80g --procs 512 --batch 512 --plan | head -n 1
