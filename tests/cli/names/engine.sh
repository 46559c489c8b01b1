# a program, or a release that no file describes, is the latest release up to it that one does
for name in vllm vllm-0.20 vllm-0.9.2 sglang TensorRT-LLM-1.1 sglang_rocm-0.5.9 vllm-0.1 trtllm; do
    "$CALC" sweep llama3-8B h100_sxm --procs 1 --batch 8 --set inference.phase=prefill \
        --set inference.prompt_size=512 --set "inference.engine=$name" --top 1 --columns tp
done | grep inference.engine
