# A model of one's own, as Hugging Face has it, and one of which too little is said.
cat > config.json <<'END'
{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 17408,
 "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
 "vocab_size": 151936, "hidden_act": "silu", "rms_norm_eps": 1e-6, "max_position_embeddings": 40960,
 "rope_theta": 1000000, "tie_word_embeddings": false, "attention_bias": false}
END
"$CALC" show params config.json 2>&1
"$CALC" sweep config.json h100_sxm --procs 64 --batch 256 --top 1 --save-best best.json 2> note.txt | sed -n '/Best by/,/^$/p'
cat note.txt
"$CALC" export config.json best.json 2>&1 | grep -E -- '--(num-layers|hidden-size|num-query-groups|seq-length)'
printf '{"hidden": 5120, "feedforward": 13824, "seq_size": 4096, "attn_heads": 40, "attn_size": 128, "num_blocks": 40}' > bare.json
"$CALC" run bare.json a100_sxm_80g llama3-70B_512 --set attention_type=multihead --set num_procs=auto | sed -n '2,4p'
