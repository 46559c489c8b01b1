# Stages by name; with an error in the list; a system that is nowhere; the next request is answered. Stages on the machine of the run
# follow its changes, as on the command line.
printf '%s\n' '{"id": 1, "app": "llama3-70B", "sys": "h100_sxm", "exe": "llama3-70B_512", "set": {"pp": 8, "dp": 16, "cp": 1, "pipeline_interleaving": 1, "seq_par_ag_redo": false, "stages": {"blocks": ["4x7", "4x13"], "system": ["4xa800", "4xh800"], "activation_recompute": {"h800": "full"}, "recompute_blocks": {"h800": 3}}}, "stats": ["total_time", "peak_stage"]}' \
    '{"id": 2, "set": {"stages": [20, "2x30"]}}' '{"id": 3, "set": {"stages": {"system": ["2xa800", "2xnowhere"]}}}' \
    '{"id": 4, "set": {"stages": [15, 30, 20, 15], "pipeline_interleaving": 5}, "stats": ["total_time"]}' \
    '{"id": 5, "set": {"pipeline_interleaving": 1, "stages": [15, 30, 20, 15]}, "stats": ["total_time"]}' | "$CALC" serve --stdio | sed 's/ (looked in [^)]*)//g'
"$CALC" run llama3-70B a800 llama3-70B_512 --set pp=8 --set dp=16 --set cp=1 --set pipeline_interleaving=1 --set seq_par_ag_redo=false \
    --set 'stages={"system": ["4xa800", "4xh800"]}' --save-exe two.json > /dev/null
changed='"matrix.bfloat16.tflops=250"'
asked="{\"app\": \"llama3-70B\", \"sys\": \"a800\", \"exe\": \"./two.json\", \"set\": [$changed], \"stats\": [\"total_time\"]}"
served=$(echo "$asked" | "$CALC" serve --stdio | grep -o '"total_time": [0-9.]*')
"$CALC" run llama3-70B a800 two.json --set "${changed//\"/}" --json run.json > /dev/null && grep -cF "$served" run.json
echo "without the change: $(echo "$asked" | sed "s/$changed//" | "$CALC" serve --stdio | grep -cF "$served")"
