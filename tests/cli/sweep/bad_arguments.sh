# exit 3
"$CALC" sweep gpt3-13B a100_80g
echo $? >&2
"$CALC" sweep gtp3-13B a100_80g --procs 8 --batch 8
echo $? >&2
"$CALC" sweep gpt3-13B a100_80g nowhere
echo $? >&2
echo '{"num_procs": 8, "batch_size": 8}' > space.json
"$CALC" sweep space.json
echo $? >&2
echo '{"num_procs": 8, "batch_size": 8, "objectives": ["sample_rate", "speed"], "top": -1}' > space.json
"$CALC" sweep gpt3-13B a100_80g space.json
