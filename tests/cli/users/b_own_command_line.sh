# Llama 2 13B on 16 x 8 A100 of 40 GB with half the network: which flags should change?
cat > train.sh <<'END'
#!/bin/bash
TP=2
torchrun --nnodes ${SLURM_NNODES:-16} --nproc-per-node 8 pretrain_gpt.py \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size 2 --sequence-parallel \
  --num-layers 40 --hidden-size 5120 --ffn-hidden-size 13824 --num-attention-heads 40 --seq-length 4096 \
  --max-position-embeddings 4096 --swiglu --normalization RMSNorm --position-embedding-type rope \
  --disable-bias-linear --untie-embeddings-and-output-weights --micro-batch-size 1 --global-batch-size 1024 \
  --bf16 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --use-flash-attn \
  --tokenizer-type Llama2Tokenizer --lr 3e-4
END
"$CALC" import train.sh --app model.json --exe mine.json 2>&1
"$CALC" run model.json a100_sxm_40g mine.json --set vocab_size=32000 | grep 'time per step'
"$CALC" sweep llama2-13B a100_sxm_40g --procs 128 --batch 1024 --set 'networks[1].bandwidth=12.5' --top 2 \
    --save-best best.json | sed -n '/Best by/,/^$/p'
grep attention_type best.json
"$CALC" export llama2-13B mine.json --diff best.json
"$CALC" diff mine.json best.json llama2-13B a100_sxm_40g --set 'networks[1].bandwidth=12.5' | grep -E 'samples/s|faster'
