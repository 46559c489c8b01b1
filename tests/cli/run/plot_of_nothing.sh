# Chunks that do not divide the blocks: the summary and its reasons come first.
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_interleaving=3 --plot | tail -n 3
