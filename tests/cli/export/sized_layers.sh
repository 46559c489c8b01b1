# Layers of several widths are those of the model's own config.json, which Megatron-LM reads. It builds them without the
# number of a chunk.
"$CALC" import "$ROOT/tests/formats/hf/llama-3.3-nemotron-super-49b.json" --app nemotron.json 2> told
"$CALC" sweep nemotron.json h200 --procs 256 --batch 256 --for megatron --top 1 --save-best best.json > table
"$CALC" export --to megatron nemotron.json best.json --out launch.sh
grep -E -e '--(het|use-ro|num-layers|ffn)' launch.sh
"$CALC" import launch.sh --exe back.json
"$CALC" run nemotron.json h200 best.json --json - | grep '"total_time"' > first
"$CALC" run nemotron.json h200 back.json --json - | grep '"total_time"' | diff first - && echo 'takes the time of the layout'
"$CALC" import launch.sh --app other.json || echo "status $?"
sed 's/"pipeline_interleaving": 1/"pipeline_interleaving": 2/; s/"pipeline_par": 1,/"pipeline_par": 2,/; s/"data_par": [0-9]*/"data_par": 128/' best.json > chunks.json
"$CALC" export --to megatron nemotron.json chunks.json || echo "status $?"
