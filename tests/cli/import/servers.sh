# exit 3
# Commands of engines, and what a run of them needs beside.
show() { grep -vE '_net|false|fused_activation|flash|attention_type|recompute|interleav|memory_model|rank_order' "$1" | tr -d ' \n' && echo; }
cat >vllm.sh <<'END'
vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4 --max-model-len 32768 --gpu-memory-utilization 0.85 \
    --kv-cache-dtype fp8 --max-num-seqs 64 --quantization fp8 --port 8000 --enforce-eager
END
"$CALC" import vllm.sh --exe vllm.json && show vllm.json
"$CALC" run llama3-70B h100_sxm vllm.json --set inference.prompt_size=4000 --set inference.generate_size=500 --csv - | cut -d, -f4-7
"$CALC" import --exe sglang.json -- python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 --dp 16 \
    --enable-dp-attention --ep-size 16 --chunked-prefill-size 65536 --max-running-requests 2048 --mem-fraction-static 0.85
show sglang.json
"$CALC" import --exe draft.json -- vllm serve DeepSeek-V3 --tensor-parallel-size 8 --enable-expert-parallel \
    --speculative-config '{"num_speculative_tokens": 2, "method": "deepseek_mtp"}'
show draft.json
printf 'tensor_parallel_size: 8\nenable_attention_dp: true\nmoe_expert_parallel_size: 8\nmax_batch_size: 64\nkv_cache_config:\n  dtype: fp8\n  free_gpu_memory_fraction: 0.8\n' >trt.yaml
"$CALC" import trt.yaml --exe trt.json && show trt.json
"$CALC" import --exe trtllm.json -- trtllm-serve MODEL --tp_size 8 --ep_size 2 --max_num_tokens 4096 && show trtllm.json
"$CALC" import --exe image.json -- docker run --gpus all --ipc=host vllm/vllm-openai:latest zai-org/GLM-5-FP8 --tensor-parallel-size 8 --max-model-len auto
show image.json
"$CALC" import --exe method.json -- vllm serve RedHatAI/Qwen3-32B-FP8-dynamic --quantization compressed-tensors && show method.json
# Not so.
"$CALC" import -- --tensor-parallel-size 8 --dtype bfloat16
"$CALC" import -- python3 -m sglang.launch_server --tp 8 --dp 3 --enable-dp-attention
"$CALC" import -- vllm serve MODEL --tensor-parallel-size 8 --speculative-config '{"method": "ngram"}' --kv-cache-dtype int3
