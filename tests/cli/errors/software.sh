# Names and documents of software that are wrong.
run() { "$CALC" run llama3-8B h100_sxm "$@" > /dev/null; echo "exit $?"; }
run llama3-8B_8 --set software=nanotrn
run llama3-8B_8 --set software=zzz
run llama3-8B_8 --set software=./none.json
run llama3-8B_8 --set software=7
sed 's/"num_procs"/"software": "nanotrn",\n  "num_procs"/' "$ROOT/executions/llama3-8B_8.json" > named.json
run named.json
echo '{"software": "nanotron"}' > cycle.json
run llama3-8B_8 --set software=cycle.json
echo '{"eager": 7, "eagre": true}' > wrong.json
run llama3-8B_8 --set software=wrong.json
echo '{"inference": {"phase": "serve"}, "stages": [1, 2]}' > lists.json
run llama3-8B_8 --set software=lists.json
run nanotron
"$CALC" sweep llama3-8B h100_sxm --procs 8 --batch 8 --set software=nanotrn; echo "exit $?"
"$CALC" plan llama3-8B h100_sxm --procs 8 --batch 8 --set software=nanotrn; echo "exit $?"
echo '{"num_procs": 8, "batch_size": 8,
  "software": "nanotrn"}' > space.json
"$CALC" sweep llama3-8B h100_sxm space.json; echo "exit $?"
