# exit 3
# What changes the model is not passed over; a default changes nothing.
cat >run.sh <<'END'
torchrun pretrain_gpt.py --num-layers 52 --hidden-size 2688 --num-attention-heads 32 --seq-length 8192 \
    --hybrid-attention-ratio 0.1 --distribute-saved-activations --recompute-granularity full \
    --recompute-method uniform --recompute-num-layers 4 --lr 1e-4
END
"$CALC" import --exe /dev/null run.sh && echo
printf 'model:\n  num_layers: 4\n  is_hybrid_model: false\n  gradient_accumulation_fusion: true\ntrain:\n  micro_batch_size: 1\n' >off.yaml
"$CALC" import --exe /dev/null off.yaml
"$CALC" import --app model.json --exe layout.json run.sh
ls
# Not even where the framework computes its value.
printf 'model:\n  hybrid_override_pattern: ${.pattern}\n  num_layers: 4\n  tensor_model_parallel_size: 2\ntrain:\n  micro_batch_size: 1\n' >computed.yaml
"$CALC" import --app model.json --exe layout.json computed.yaml
