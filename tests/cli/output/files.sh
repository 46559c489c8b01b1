"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json a.json --csv a.csv --peers peers.json | head -n 1
ls; wc -l <a.csv; head -n 2 a.json; head -c 200 peers.json
