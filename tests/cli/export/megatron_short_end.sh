# 61 blocks in 32 chunks: embedding and a block, 30 times two blocks, and the head with the prediction block, which
# takes the place of two (64 = 1 + 61 + 2); 16 stages of 3, 4 .. 4 and 2 blocks. Chunks of one block cannot hold it.
layout="--procs 2048 --batch 15360 --set pp=16 --set tp=1 --set ep=64 --set pipeline_balance=ends"
"$CALC" export --to megatron deepseek-v3-671B h800 $layout --set pipeline_interleaving=2 --out train.sh 2>/dev/null
grep -E -- '--pipeline' train.sh
"$CALC" import train.sh --exe back.json >/dev/null 2>/dev/null && grep -E 'pipeline_(par|interleaving|balance)"' back.json
"$CALC" run deepseek-v3-671B h800 $layout --set pipeline_interleaving=2 2>/dev/null | grep -E 'chunks|balance'
"$CALC" run deepseek-v3-671B h800 back.json --set pipeline_interleaving=4 2>&1 | grep -A 2 -m 1 interleaving
