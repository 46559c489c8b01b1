# exit 1
# a space file may name models, machines and how to sweep; the command line goes before it
cat > space.json << END
{"applications": ["gpt3-13B"], "systems": ["a100_80g"], "num_procs": [8, 16], "batch_size": {"max": 16},
 "tensor_par": "1:8:x2", "microbatch_size": 1, "tensor_par_overlap": "none", "tensor_par_comm_type": "rs_ag", "objectives": ["sample_rate", "mem1"], "per": ["num_procs"], "top": 1,
 "sys.mem1.GiB": [40, 80], "where": ["mem2 <= 0"]}
END
"$CALC" sweep space.json --no-prune | grep -v evaluations
"$CALC" sweep gpt3-175B a100_80g space.json --compat repaired --procs 32 --top 2 --per design --no-prune | grep -v evaluations
exit "${PIPESTATUS[0]}"
