# What was typed at first: short names, units, and what is wrong.
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --set tp=8 --set dp=auto --set mem1.GiB=80GB | grep -E '^  tensor  |HBM:'
"$CALC" show explain mfu | sed -n 1p
"$CALC" run llama3-70B a100 llama3-70B_512 2>&1 | sed -n 1,2p
"$CALC" sweep llama3-70B h100_sxm --gpus 64 2>&1; echo $?
"$CALC" sweep gpt3-175B a100_80g --procs 512 --batch 512 --where 'mem1 < 60' 2>&1; echo $?
"$CALC" sweep --top -3 2>&1; echo $?
"$CALC" show names sys | grep -c .
LC_ALL=C COLUMNS=60 "$CALC" run llama3-70B h100_sxm llama3-70B_512 | awk 'length > 60' | wc -l
