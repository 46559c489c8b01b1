# exit 3
printf '{\n  "architectures": ["LamaForCausalLM"],\n  "model_type": "lama",\n  "hidden_size": 64\n}\n' > config.json
"$CALC" import config.json
"$CALC" run config.json h100_sxm llama3-8B_128_fsdp
printf '{\n  "model_type": "llama",\n  "hidden_size": 64,\n  "vocab_size": -1\n}\n' > config.json
"$CALC" import config.json
printf '{\n  "model_type": "llama",\n  "hidden_size": 64\n}\n' > config.json
"$CALC" show params config.json
