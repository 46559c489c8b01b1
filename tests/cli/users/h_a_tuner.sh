# Layouts that a program draws: what follows from them is calc's to know.
for tp in 1 2 4 8; do
    for pp in 1 4; do
        echo '{"app": "llama3-70B", "sys": "h100_sxm", "exe": "llama3-70B_512", "stats": ["total_time"], "set": {"tp": '$tp', "pp": '$pp',
            "dp": "auto", "pipeline_interleaving": "auto", "tensor_par_overlap": "auto", "seq_par_ag_redo": "auto"}}' | tr -d '\n'
        echo
    done
done | "$CALC" serve --stdio | grep -o '"verdict": "[a-z0-9_]*"\|"total_time": [0-9.]\{5\}\|"errors".*'
