# names of a hub: owners, versions, formats; a path that is none stays one
for name in Qwen/Qwen3-30B-A3B-Instruct-2507 deepseek-ai/DeepSeek-V3-0324 deepseek-ai/DeepSeek-R1-0528 \
    meta-llama/Llama-3.3-70B-Instruct nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 openai/gpt-oss-120b \
    microsoft/Phi-3-mini-128k-instruct zai-org/GLM-4.6 QWEN3-8B-FP8 unsloth/Llama-3.2-1B-Instruct-bnb-4bit \
    deepseek-v3 qwen3-235b; do
    "$CALC" show params "$name" | cut -c1-60 | sed -n 2p
done
for name in Qwen/Qwen9-30B mistralai/Mixtral nowhere/llama3-8B.json qwen3-30; do
    "$CALC" show params "$name"
done
true
