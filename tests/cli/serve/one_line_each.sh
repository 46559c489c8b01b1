printf '%s\n' '{"id": 1, "app": "gpt3-175B", "sys": "a100_80g", "exe": "3072_t4_p64_d12_mbs4_full", "stats": ["total_time"]}' \
    '' '{"id": 2, "set": {"pipeline_interleaving": 2, "sys.mem1.GiB": 12}, "stats": ["total_time", "bubble_time"]}' \
    '{"id": 3, "set": {"tensor_pa": 8}}' '{"id": 4' '{"app": "gpt3-17B"}' | "$CALC" serve --stdio | sed 's/ (looked in [^)]*)//g'
