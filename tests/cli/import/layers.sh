# exit 3
# Layers by letters, the stages among them; by lists; and what is wrong with them.
cat >hybrid.sh <<'END'
torchrun --nproc-per-node 8 pretrain_hybrid.py --spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec \
    --hybrid-layer-pattern "MEM*|MEME|M*ME|M*ME/*E" --pipeline-model-parallel-size 4 --hidden-size 2048 \
    --num-attention-heads 16 --group-query-attention --num-query-groups 2 --seq-length 8192 --micro-batch-size 1 \
    --mamba-num-heads 64 --mamba-head-dim 64 --num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 1024 --squared-relu \
    --moe-latent-size 512 --position-embedding-type none --untie-embeddings-and-output-weights --vocab-size 131072 --bf16
END
"$CALC" import --app model.json --exe layout.json hybrid.sh && cat model.json && grep -E 'pipeline|stages' layout.json
sed -e 's/M\*ME|M\*ME/M*ME|M?ME/' hybrid.sh >wrong.sh
"$CALC" import --app model.json --exe layout.json wrong.sh
sed -e 's/--hidden-size/--num-layers 12 --hidden-size/' hybrid.sh >wrong.sh
"$CALC" import --app model.json --exe layout.json wrong.sh
"$CALC" import --from megatron -- --num-layers 4 --linear-attention-freq '[1,1,0]' --experimental-attention-variant gdn
"$CALC" import --from megatron --app model.json -- --num-layers 4 --heterogeneous-layers-config-path config.json
