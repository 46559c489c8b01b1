# Short names in --set, in a document, and the number of the execution before the model's.
numbers() { "$CALC" run llama3-70B h100_sxm llama3-70B_512 "$@" --csv - | tail -n 1; }
long=$(numbers --set microbatch_size=2 --set exe.seq_size=4096)
short=$(numbers --set mbs=2 --set seq=4096)
plain=$(numbers --set mbs=2 --set seq_size=4096)
[[ -n $long && $long == "$short" && $long == "$plain" ]] && echo same
sed 's/"tensor_par":/"tp":/; s/"microbatch_size":/"mbs":/' "$ROOT"/executions/*/llama3-70B_512.json "$ROOT"/executions/llama3-70B_512.json 2>/dev/null >exe.json
"$CALC" diff exe.json llama3-70B_512
