cat >run.sh <<'END'
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 \
  --seq-length 128 --tokenizer-type Llama2Tokenizer --tokenizer-model t.model
END
"$CALC" import run.sh --app model.json --exe layout.json
"$CALC" import --seq-size 256 --app model.json --exe layout.json -- --num-layers 4 --hidden-size 64 \
    --num-attention-heads 4 --seq-length 128 --vocab-size 1000 && grep seq model.json layout.json
