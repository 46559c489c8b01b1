# exit 3
# Names of quantized checkpoints say how the weights are stored: in the model, or in a layout without one; what they cannot say is said.
formats() { grep -hoE '"(weight|matrix|kv|frozen)_datatype": "[a-z0-9_]+"|"scaling": "[a-z]+"' "$1" | tr '\n' ' '; echo; }
for ending in AWQ GPTQ-Int4 GPTQ-Int8 FP8 FP8-dynamic NVFP4 FP4 bnb-4bit w8a8 quantized.w4a16 MXFP4 FP8-KV GGUF; do
    rm -f m.json e.json
    "$CALC" import --app m.json -- vllm serve "Qwen/Qwen2.5-72B-Instruct-$ending" -tp 8 >/dev/null 2>err
    "$CALC" import --exe e.json -- python3 -m sglang.launch_server --model-path "/data/Qwen2.5-72B-Instruct-$ending" --tp 8 2>/dev/null
    echo "$ending: $(formats m.json 2>/dev/null)| $(formats e.json)"
    head -1 err
done
# 70.21e9 weights of blocks in 4.5 or 8 bits, 2.49e9 of embedding and head in 16, on 8 processors
for name in qwen2.5-72B Qwen/Qwen2.5-72B-Instruct-AWQ Qwen2.5-72B-Instruct-FP8; do
    "$CALC" run "$name" h200 --procs 8 --batch 8 --set tp=8 --set inference.phase=decode --set inference.prompt_size=1000 --json - 2>/dev/null |
        python3 -c 'import json, sys; d = json.load(sys.stdin); print(round(d["stats"]["weight_space"] / 1e9, 3))'
    printf '{"app": "%s", "sys": "h200", "exe": "llama3-70B_serving_8", "stats": ["weight_space"]}' "$name" | "$CALC" serve --stdio
done 2>&1
# a checkpoint in 16 bits of a model that has 8; what is said beside the name counts
"$CALC" import --app m.json -- vllm serve unsloth/DeepSeek-V3-bf16 -tp 8 >/dev/null && formats m.json
"$CALC" import --exe e.json -- vllm serve Qwen2.5-72B-Instruct-AWQ --quantization fp8 && formats e.json
# trtllm-serve, and a manifest of which is said whose it is
for first in "" serve; do
    "$CALC" import --app m.json --exe e.json -- trtllm-serve $first nvidia/Llama-3.3-70B-Instruct-FP4 --tp_size 4 --max_batch_size 64 && formats m.json
done
cat >k.yaml <<'END'
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: server
        command: ["vllm", "serve", "Qwen/Qwen2.5-72B-Instruct-AWQ", "--tensor-parallel-size", "4"]
END
"$CALC" import --from vllm k.yaml --app m.json --exe e.json && formats m.json
# training: frozen weights are those of the checkpoint, trained ones are wide
printf 'base_model: unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit\nadapter: lora\nlora_r: 8\nlora_target_linear: true\nsequence_len: 2048\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nbf16: true\n' >lora.yaml
"$CALC" import lora.yaml --procs 1 --app m.json --exe e.json && formats e.json
sed -i '/lora/d' lora.yaml
"$CALC" import lora.yaml --procs 8 --app m.json --exe e.json && formats e.json
"$CALC" import --app m.json -- vllm serve Qwen/Qwen2.5-72B-Instruct-nonsense -tp 8
